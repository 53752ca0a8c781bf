/* SPDX-License-Identifier: Apache-2.0 */
/* How many bytes a launch moves, as bandwidth counts them. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <tileptx/emit.h>

/*
 * A load moves what it covers of the span, once, and all of the tiles, padding too. A store moves
 * what it writes, from one side to the other. A read-modify-write moves each of its elements three
 * times: the operand, and the span's element to and fro; and once more with fetch. The index array
 * counts once, and its entries are taken to be inside.
 */
uint64_t traffic_bytes(const tptx_view *view, const tptx_op *op, const tptx_args *args);

#endif
