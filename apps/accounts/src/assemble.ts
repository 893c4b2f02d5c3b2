import { CommandHandler, ProjectionRunner, type EventStore } from '@berth/event-store';
import type { Clock } from '@berth/kernel';
import type { Database } from '@berth/persistence';
import type { Logger } from '@berth/telemetry';
import { AccountCommandHandler } from './account/account.command-handler.js';
import { accountDecider } from './account/account.decider.js';
import { accountCodec } from './account/account.events.js';
import type { AppParts } from './app.module.js';
import { AuthenticateQuery } from './authenticate/authenticate.query.js';
import { KeyUsage } from './authenticate/key-usage.js';
import { firstAccountOf, type InstallParts } from './installation/install.js';
import { installationDecider } from './installation/installation.decider.js';
import { installationCodec } from './installation/installation.events.js';
import { KeyCommandHandler } from './key/key.command-handler.js';
import { keyDecider } from './key/key.decider.js';
import { keyCodec } from './key/key.events.js';
import { KeyVault } from './key/key-vault.js';
import { keyListProjection } from './key-list/key-list.projection.js';
import { KeyListQuery } from './key-list/key-list.query.js';

export interface Infrastructure {
  readonly store: EventStore;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The service's objects, wired; nothing runs yet. */
export interface Accounts {
  readonly app: AppParts;
  readonly install: InstallParts;
  readonly usage: KeyUsage;
  readonly keyListRunner: ProjectionRunner;
}

export const assemble = ({ store, database, clock, log }: Infrastructure): Accounts => {
  const keys = new CommandHandler({ store, decider: keyDecider, codec: keyCodec });
  const installation = new CommandHandler({ store, decider: installationDecider, codec: installationCodec });
  const accounts = new AccountCommandHandler(
    new CommandHandler({ store, decider: accountDecider, codec: accountCodec }),
    clock,
  );
  const vault = new KeyVault(database);
  const usage = new KeyUsage(database, clock, log);
  const keyListRunner = new ProjectionRunner({ store, database, projection: keyListProjection, log });
  return {
    app: {
      authenticate: new AuthenticateQuery(database, usage),
      keys: new KeyCommandHandler({
        keys,
        accounts,
        vault,
        usage,
        keyList: keyListRunner,
        firstAccountId: () => firstAccountOf({ installation }),
        clock,
      }),
      keyList: new KeyListQuery(database),
    },
    install: { installation, accounts, keys, vault, clock, log },
    usage,
    keyListRunner,
  };
};
