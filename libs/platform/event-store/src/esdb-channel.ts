import { connectivityState, type Channel } from '@grpc/grpc-js';

/**
 * A channel that is closed while it waits to connect again does so all the same, and then keeps a connection that nobody
 * knows of. So it is closed once it has connected.
 */
export const closeChannel = (channel: Channel): void => {
  if (!isAway(channel)) channel.close();
  else whenBack(channel, () => closeChannel(channel));
};

/** Whether the channel waits to connect again after a failure. */
export const isAway = (channel: Channel): boolean =>
  channel.getConnectivityState(false) === connectivityState.TRANSIENT_FAILURE;

/** Calls `then` once the channel waits no more, after it has done what it does with its new connection. */
export const whenBack = (channel: Channel, then: () => void): void =>
  channel.watchConnectivityState(
    connectivityState.TRANSIENT_FAILURE,
    Infinity,
    () => void setImmediate(then),
  );
