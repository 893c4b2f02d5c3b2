import { operationsRequests, SERVICES, type ServiceHealth } from '@berth/contracts/operations';
import { runtimeRequests } from '@berth/contracts/runtime';
import { isDomainError, type RequestDefinition } from '@berth/kernel';
import { NatsLink, Requester, takesOurMessages } from '@berth/messaging';
import { Database } from '@berth/persistence';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { GatewayConfig } from '../config.js';
import { gatewayVersion } from '../version.js';
import { healthOf, type ProbeResponse, type Found, type HealthView } from './health.view.js';

export interface HealthFacts {
  readonly version: string;
  /** The value of `runtime` while no host responds. */
  readonly driver: string;
}

/** A dependency that has not responded by then is not `ok`, so that health responds within 1 s. */
const LOOK_MS = 900;

/** The endpoint is public; dependencies are queried no more often than this. */
const FRESH_MS = 500;

/** Sends a real request to every dependency of the gateway, in one round for all concurrent callers. */
@Injectable()
export class HealthProbe {
  readonly #facts: HealthFacts;
  #running: Promise<HealthView> | undefined;
  #said = '';

  constructor(
    private readonly link: NatsLink,
    private readonly database: Database,
    private readonly requester: Requester,
    config: GatewayConfig,
    private readonly log: Logger,
  ) {
    this.#facts = { version: gatewayVersion(), driver: config.runtime };
  }

  check(): Promise<HealthView> {
    this.#running ??= this.#look().finally(() => {
      setTimeout(() => (this.#running = undefined), FRESH_MS).unref();
    });
    return this.#running;
  }

  async #look(): Promise<HealthView> {
    const [postgres, host, ...services] = await Promise.all([
      within(this.database.ping()),
      this.#ask(runtimeRequests.hosts),
      ...SERVICES.map((service) => this.#ask<ServiceHealth>(operationsRequests(service).health)),
    ]);
    const found: Found = {
      connected: this.link.connected,
      takesOurMessages: takesOurMessages(this.link),
      postgres,
      host,
      services: Object.fromEntries(SERVICES.map((name, index) => [name, services[index] ?? 'silent'])),
    };
    const view = healthOf(found, this.#facts);
    this.#say(view, found);
    return view;
  }

  async #ask<Res>(definition: RequestDefinition<Record<string, never>, Res>): Promise<ProbeResponse<Res>> {
    try {
      return await this.requester.request(definition, {}, { deadlineMs: LOOK_MS });
    } catch (error) {
      return isDomainError(error, 'unavailable') && this.link.connected ? 'absent' : 'silent';
    }
  }

  /** Callers learn which dependency fails; only the log contains details. */
  #say({ status, dependencies }: HealthView, found: Found): void {
    const now = JSON.stringify({ status, dependencies });
    if (now === this.#said) return;
    const first = this.#said === '';
    this.#said = now;
    if (status !== 'ok') this.log.warn({ status, dependencies, found }, 'Not every dependency is healthy.');
    else if (!first) this.log.info('Every dependency is healthy again.');
  }
}

/** Whether it resolved in time. */
const within = async (looked: Promise<void>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), LOOK_MS);
  });
  const inTime = looked.then(
    () => true,
    () => false,
  );
  return Promise.race([inTime, late]).finally(() => clearTimeout(timer));
};
