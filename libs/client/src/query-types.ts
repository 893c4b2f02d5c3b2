import type { paths } from './openapi.generated.js';

/** Parameters that are moments, which may be a `Date`. */
type Moments = 'from' | 'to' | 'since' | 'lastActiveBefore' | 'lastActiveAfter';

type Parameters<P extends keyof paths> = paths[P] extends { get: { parameters: { query?: infer Q } } }
  ? NonNullable<Q>
  : never;

/** The parameters of the query of a GET, as the OpenAPI document describes them, without `Excluded`. */
export type QueryOf<P extends keyof paths, Excluded extends string = never> = {
  readonly [M in keyof Parameters<P> as M extends Excluded ? never : M]?:
    | Parameters<P>[M]
    | (M extends Moments ? Date : never)
    | undefined;
};
