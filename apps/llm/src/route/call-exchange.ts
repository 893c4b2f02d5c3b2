import type { IncomingMessage, ServerResponse } from 'node:http';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import { OpenCalls } from '../calls/open-calls.js';
import { headersForUpstream } from '../dialect/passed-headers.js';
import { Refusal, upstreamFailed } from '../dialect/refusal.js';
import { hidesUsage, upstreamBody } from '../dialect/upstream-body.js';
import { SilentUpstream, UpstreamClient } from '../upstream/upstream-client.js';
import { CallerResponse } from './caller-response.js';
import { FAILED, UNKNOWN, type CallOutcome } from './call-outcome.js';
import { CallTiming } from './call-timing.js';
import { passResponse } from './pass-response.js';
import type { PreparedCall } from './prepared-call.js';

/** Statuses that concern our own key or address, which are no business of the caller. */
const isOurs = (status: number): boolean =>
  (status >= 300 && status < 400) || status === 401 || status === 403;

/** Sends calls to upstreams, and their responses to the callers. */
@Injectable()
export class CallExchange {
  constructor(
    private readonly upstream: UpstreamClient,
    @Inject(OpenCalls) private readonly open: Pick<OpenCalls, 'end'>,
    private readonly timing: CallTiming,
    private readonly log: Logger,
  ) {}

  /**
   * `callId` is null for a free call; `outputTokens` is the limit to set. Resolves when the response is over and the call is
   * recorded. Errors: 502, before the first byte of the response only.
   */
  async run(
    { operation, model, body, limit }: PreparedCall,
    { callId, outputTokens }: { readonly callId: string | null; readonly outputTokens: number },
    { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  ): Promise<void> {
    const end = async (outcome: CallOutcome): Promise<void> => {
      if (callId !== null) await this.open.end(callId, outcome);
    };
    // Its caller hung up while the cost was reserved.
    if (response.destroyed) return end(FAILED);
    const cut = new AbortController();
    const stopReading = readOnFor(this.timing.readOnMs, response, cut, callId === null);
    try {
      const sent = {
        provider: model.provider,
        path: operation.name,
        headers: headersForUpstream(request.headers),
        body: JSON.stringify(upstreamBody(body, operation, { ...limit, tokens: outputTokens })),
        signal: cut.signal,
      };
      const received = await this.upstream.send(sent).catch(async (error: unknown) => {
        this.log.warn({ err: error, callId }, 'an upstream cannot be reached');
        const isGivenUp = cut.signal.aborted || error instanceof SilentUpstream;
        await end(isGivenUp ? UNKNOWN : FAILED);
        throw upstreamFailed('The model cannot be reached.');
      });
      const status = received.statusCode ?? 0;
      if (isOurs(status)) {
        this.log.warn({ status, callId }, 'an upstream refused a call');
        received.destroy();
        await end(FAILED);
        throw upstreamFailed('The model refused the call.');
      }
      const caller = new CallerResponse(response);
      const { outcome, isComplete } = await passResponse(received, caller, {
        operation,
        hidesUsage: hidesUsage(body, operation),
      });
      await end(outcome);
      if (isComplete) caller.end();
      else caller.breakOff();
    } catch (error) {
      if (!(error instanceof Refusal)) await end(UNKNOWN);
      throw error;
    } finally {
      stopReading();
    }
  }
}

/** Aborts `cut` when the caller has hung up: `forMs` later, or immediately if `atOnce`. Returns a function that cancels this. */
const readOnFor = (
  forMs: number,
  response: ServerResponse,
  cut: AbortController,
  atOnce: boolean,
): (() => void) => {
  let timer: NodeJS.Timeout | undefined;
  const left = (): void => {
    if (response.writableFinished) return;
    if (atOnce) cut.abort();
    else timer = setTimeout(() => cut.abort(), forMs).unref();
  };
  response.once('close', left);
  return () => {
    response.off('close', left);
    clearTimeout(timer);
  };
};
