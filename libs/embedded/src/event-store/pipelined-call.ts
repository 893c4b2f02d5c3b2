import { ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';

/* How many messages may be on their way to the socket; bounds memory together with the size of a message. */
const IN_FLIGHT = 64;

/**
 * The server library writes one message, waits until the socket took it, then writes the next: a system call and a
 * turn of the loop for each event. This call takes several at once, so that they leave together.
 */
class PipelinedCall extends ServerInterceptingCall {
  #inFlight = 0;
  #held: (() => void) | undefined;

  override sendMessage(message: unknown, callback: () => void): void {
    this.#inFlight += 1;
    super.sendMessage(message, () => {
      this.#inFlight -= 1;
      const held = this.#held;
      this.#held = undefined;
      held?.();
    });
    // The caller sends nothing more before its callback, so at most one can be held.
    if (this.#inFlight < IN_FLIGHT) callback();
    else this.#held = callback;
  }
}

/** Lets the messages of the call at `path` leave several at a time; other calls stay as they are. */
export function pipelineResponses(path: string): ServerInterceptor {
  return (method, call) => (method.path === path ? new PipelinedCall(call) : new ServerInterceptingCall(call));
}
