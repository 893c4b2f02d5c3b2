import { connectivityState, type Channel } from '@grpc/grpc-js';

/**
 * A channel that is closed while it waits to reconnect reconnects nevertheless and leaks that connection. So it is
 * closed once it has connected.
 */
export const closeChannel = (channel: Channel): void => {
  if (!isAway(channel)) channel.close();
  else whenBack(channel, () => closeChannel(channel));
};

/** Whether the channel waits to reconnect after a failure. */
export const isAway = (channel: Channel): boolean =>
  channel.getConnectivityState(false) === connectivityState.TRANSIENT_FAILURE;

/** Calls `then` once the channel has reconnected and set up its new connection. */
export const whenBack = (channel: Channel, then: () => void): void =>
  channel.watchConnectivityState(
    connectivityState.TRANSIENT_FAILURE,
    Infinity,
    () => void setImmediate(then),
  );
