import { Clock, isoTime } from '@berth/kernel';
import { OperatorSettings } from '@berth/operator-file';
import { RunOnOneInstance, type Runnable } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { PRICING_STREAM_ID } from './pricing.events.js';
import { PricingStreams } from './pricing.streams.js';

/** Prices belong to the installation, not to an account. */
const NO_ACCOUNT = 'system';

/** Records the prices of the operator's file when the service starts, and whenever the file was read again. */
@Injectable()
@RunOnOneInstance({ name: 'prices' })
export class PlanRecorder implements Runnable {
  constructor(
    private readonly operator: OperatorSettings,
    private readonly streams: PricingStreams,
    private readonly clock: Clock,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const reread = this.#untilReread(signal);
      await this.#record();
      await reread;
    }
  }

  async #record(): Promise<void> {
    const at = isoTime(this.clock.now());
    const plans = this.operator.current.plans.map(({ id, hosting }) => ({ id, hosting }));
    await this.streams.handle(
      PRICING_STREAM_ID,
      { plans, at },
      { commandId: `prices/${at}`, accountId: NO_ACCOUNT, actor: { kind: 'system', id: 'billing' } },
    );
  }

  #untilReread(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = this.operator.onReread(resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
    return promise.finally(end);
  }
}
