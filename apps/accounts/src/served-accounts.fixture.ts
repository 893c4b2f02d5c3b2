import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  accountsRequests,
  type MintKey,
  type AuthenticatedKey,
  type MintedKey,
} from '@berth/contracts/accounts';
import { systemClock, type Clock } from '@berth/kernel';
import { NatsLink, Requester } from '@berth/messaging';
import { launchService, type Stoppable } from '@berth/service';
import type { Logger } from '@berth/telemetry';
import { TcpProxy, startTestInfra, type TestInfra } from '@berth/testing';
import { AccountsModule, readAccountsConfig, type AccountsConfig } from './index.js';
import { envelope, hashOf, quiet } from './running-accounts.fixture.js';

/** The service on a real broker; it reaches its stores through proxies that a test can cut or freeze. */
export class ServedAccounts {
  readonly requester: Requester;
  private readonly services: Stoppable[] = [];

  private constructor(
    readonly infra: TestInfra,
    readonly proxies: { readonly eventStore: TcpProxy; readonly postgres: TcpProxy },
    readonly config: AccountsConfig,
    readonly link: NatsLink,
  ) {
    this.requester = new Requester(link);
  }

  /** Starts this many instances concurrently on a fresh installation. */
  static async start(
    instances: number,
    log: Logger = quiet,
    clock: Clock = systemClock,
  ): Promise<ServedAccounts> {
    const infra = await startTestInfra({ parts: ['nats', 'eventStore', 'postgres'] });
    const proxies = {
      eventStore: await TcpProxy.start(portOf(infra.eventStoreUrl)),
      postgres: await TcpProxy.start(portOf(infra.databaseUrl)),
    };
    const config = readAccountsConfig({
      NATS_URL: infra.natsUrl,
      EVENTSTORE_URL: through(proxies.eventStore, infra.eventStoreUrl),
      DATABASE_URL: through(proxies.postgres, infra.databaseUrl),
      BERTH_DATA: join(await mkdtemp(join(tmpdir(), 'berth-accounts-')), 'data'),
    });
    const link = await NatsLink.open({ url: infra.natsUrl, name: 'test', log: quiet });
    const served = new ServedAccounts(infra, proxies, config, link);
    served.services.push(
      ...(await Promise.all(
        Array.from({ length: instances }, () => launchService(AccountsModule, { config, log, clock })),
      )),
    );
    return served;
  }

  async stop(): Promise<void> {
    await this.stopServices();
    await this.link.close();
    await Promise.all(Object.values(this.proxies).map((proxy) => proxy.stop()));
    await this.infra.stop();
    await rm(join(this.config.bootstrapKeyFile, '../..'), { recursive: true });
  }

  async stopServices(): Promise<void> {
    await Promise.all(this.services.splice(0).map((service) => service.stop()));
  }

  async startAnother(changes: Partial<AccountsConfig> = {}): Promise<void> {
    const config = { ...this.config, ...changes };
    this.services.push(await launchService(AccountsModule, { config, log: quiet }));
  }

  async bootstrapKey(): Promise<string> {
    return (await readFile(this.config.bootstrapKeyFile, 'utf8')).trim();
  }

  authenticate(key: string): Promise<AuthenticatedKey> {
    return this.requester.request(accountsRequests.authenticate, hashOf(key));
  }

  /** Mints with the bootstrap key. */
  async mint(change: Partial<MintKey> = {}): Promise<MintedKey> {
    const { accountId, scopes } = await this.authenticate(await this.bootstrapKey());
    return this.requester.request(accountsRequests.mintKey, {
      ...envelope(accountId),
      name: 'ci',
      scopes: ['deploy'],
      holderScopes: scopes,
      expiresAt: null,
      ...change,
    });
  }
}

const portOf = (url: string): number => Number(/:(\d+)(?=[/?]|$)/.exec(url)?.[1]);

const through = (proxy: TcpProxy, url: string): string => url.replace(`:${portOf(url)}`, `:${proxy.port}`);
