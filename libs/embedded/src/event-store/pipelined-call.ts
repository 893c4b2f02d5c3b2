import { ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';

/* Maximum number of messages in flight to the socket; bounds the memory that a slow reader can hold. */
const IN_FLIGHT_MESSAGES = 128;
const IN_FLIGHT_BYTES = 524_288;

/**
 * The server library writes one message, waits until the socket has accepted it, then writes the next: a system call
 * and a turn of the event loop for each event. This call passes several on at once, so that one system call sends them.
 */
class PipelinedCall extends ServerInterceptingCall {
  #messages = 0;
  #bytes = 0;
  #held: (() => void) | undefined;

  override sendMessage(message: unknown, callback: () => void): void {
    const size = Buffer.isBuffer(message) ? message.length : 0;
    this.#messages += 1;
    this.#bytes += size;
    super.sendMessage(message, () => {
      this.#messages -= 1;
      this.#bytes -= size;
      if (this.#isFull()) return;
      const held = this.#held;
      this.#held = undefined;
      held?.();
    });
    // The caller sends nothing more before its callback, so at most one callback is held.
    if (this.#isFull()) this.#held = callback;
    else callback();
  }

  #isFull(): boolean {
    return this.#messages >= IN_FLIGHT_MESSAGES || this.#bytes >= IN_FLIGHT_BYTES;
  }
}

/** Lets the call at `path` send several messages at a time; other calls are unchanged. */
export function pipelineResponses(path: string): ServerInterceptor {
  return (method, call) =>
    method.path === path ? new PipelinedCall(call) : new ServerInterceptingCall(call);
}
