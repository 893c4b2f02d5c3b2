/** A number of tokens that was computed in bigint. It is no amount of money. */
export const tokenCount = (tokens: bigint): number => Number(tokens);
