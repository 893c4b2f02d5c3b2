/** Bytes of a JSON body, unless its route states another limit. */
export const JSON_BODY_LIMIT = 1_048_576;
