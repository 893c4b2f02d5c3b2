import type { ViewerSessionView } from '@berth/contracts/computers';

/** The response of a request that opens a viewer. */
export interface OpenedViewer extends Pick<
  ViewerSessionView,
  'sessionId' | 'mode' | 'takeover' | 'expiresAt'
> {
  readonly url: string;
  readonly socketUrl: string;
}
