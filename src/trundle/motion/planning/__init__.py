"""Plans for drives: quick motions in which no wheel slips and every limit holds, with proof of both."""
