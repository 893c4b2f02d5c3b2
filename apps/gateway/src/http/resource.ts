import type { Requester } from '@berth/messaging';
import type { Principal } from '../auth/principal.js';

/** The values of a route's path parameters. */
export type PathParams = Readonly<Record<string, string>>;

/**
 * A resource that a route's path names. If it does not exist, its 404 takes precedence over the gateway's own errors.
 */
export interface RouteResource<Found = unknown> {
  /** The path parameter that holds its id. */
  readonly param: string;
  /** Whether the text can be an id at all; any other is treated like an unknown id, without a lookup. */
  readonly isId: (id: string) => boolean;
  /** Whether the principal may see it; others get the same 404. By default every principal may. */
  readonly isReachable?: (principal: Principal, id: string) => boolean;
  /** The 404. */
  readonly notFound: () => Error;
  /**
   * Throws not_found if it does not exist in the caller's account. Called only before the gateway itself rejects a
   * request, and for a body that is read with it; otherwise the service that handles the request checks. Absent where the
   * gateway itself rejects nothing.
   */
  readonly lookUp?: (requester: Requester, principal: Principal, params: PathParams) => Promise<Found>;
}

/** Looks up a resource that the path of the request names. Throws its 404. */
export type LookUp = <Found>(resource: RouteResource<Found>) => Promise<Found>;

/** The path parameters of a request, by name. */
export const paramsOf = ({ params }: { readonly params: unknown }): PathParams =>
  typeof params === 'object' && params !== null ? (params as PathParams) : {};
