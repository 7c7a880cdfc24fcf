"""Plans for drives: the quickest motion found in which no wheel slips and every limit holds, with proof of both."""
