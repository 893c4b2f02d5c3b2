/** The events of a runtime host. Times are ISO 8601. */
export type HostEvent =
  | {
      /** Its first announcement. */
      readonly type: 'HostJoined';
      readonly data: { readonly hostId: string; readonly name: string; readonly at: string };
    }
  | { readonly type: 'HostDrained'; readonly data: { readonly hostId: string; readonly at: string } }
  | { readonly type: 'HostResumed'; readonly data: { readonly hostId: string; readonly at: string } }
  /** An operator gave up the lost host and its agents. */
  | { readonly type: 'HostRemoved'; readonly data: { readonly hostId: string; readonly at: string } };

/** Whether a host may have agents. It is never added again after its removal: it must not show its old agents again. */
export type Host =
  | { readonly status: 'unknown' }
  | { readonly status: 'ready' | 'draining'; readonly hostId: string; readonly name: string }
  | { readonly status: 'removed' };

/** Applies one event. Pure. */
export const evolve = (host: Host, event: HostEvent): Host => {
  switch (event.type) {
    case 'HostJoined':
      return { status: 'ready', hostId: event.data.hostId, name: event.data.name };
    case 'HostDrained':
      return 'hostId' in host ? { ...host, status: 'draining' } : host;
    case 'HostResumed':
      return 'hostId' in host ? { ...host, status: 'ready' } : host;
    case 'HostRemoved':
      return { status: 'removed' };
  }
};
