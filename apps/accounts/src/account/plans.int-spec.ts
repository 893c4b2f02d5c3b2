import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '@berth/config';
import { accountsRequests, type AccountView } from '@berth/contracts/accounts';
import { launchService } from '@berth/service';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsModule, readAccountsConfig } from '../index.js';
import { envelope, quiet } from '../running-accounts.fixture.js';
import { ServedAccounts } from '../served-accounts.fixture.js';

const DEFAULT = '{ id: default, hosting: metered }';
const TEAM = '{ id: team, hosting: seat, priceCentsPerMonth: 20000 }';

let served: ServedAccounts;
let file: string;
let operatorId: string;

beforeAll(async () => {
  served = await ServedAccounts.start(1);
  file = join(served.config.bootstrapKeyFile, '../berth.yaml');
  operatorId = (await served.authenticate(await served.bootstrapKey())).accountId;
});
afterAll(() => served.stop());

const write = (...plans: readonly string[]): void =>
  writeFileSync(file, `runtime: {}\nplans:\n${plans.map((plan) => `  - ${plan}\n`).join('')}`);
const hangUp = (): void => void process.emit('SIGHUP', 'SIGHUP');

const open = (planId: string): Promise<AccountView> =>
  served.requester.request(accountsRequests.openAccount, { ...envelope(operatorId), name: 'Acme', planId });
const update = (id: string, planId: string): Promise<AccountView> =>
  served.requester.request(accountsRequests.updateAccount, {
    ...envelope(operatorId),
    ...{ id, planId, name: null, suspended: null },
  });

describe('a plan of the file', () => {
  it('can be given to accounts once the file is read again, and any other id cannot', async () => {
    await expect(open('team')).rejects.toMatchObject({ kind: 'invalid', code: 'unknown_plan' });
    write(DEFAULT, TEAM);
    hangUp();
    const opened = await eventually(() => open('team'));
    expect(opened.planId).toBe('team');
    await expect(update(opened.id, 'gold')).rejects.toMatchObject({ kind: 'invalid', code: 'unknown_plan' });
    expect(await update(opened.id, 'default')).toMatchObject({ planId: 'default' });
    expect(await update(opened.id, 'team')).toMatchObject({ planId: 'team' });
  });

  it('cannot be removed while an account has it, whatever else the file changes', async () => {
    write(DEFAULT, '{ id: gold, hosting: metered }');
    hangUp();
    const { planIds } = await served.requester.request(accountsRequests.plansInUse, {});
    expect(planIds).toEqual(['default', 'team']);
    await expect(open('gold')).rejects.toMatchObject({ code: 'unknown_plan' });
    await open('team');
  });

  it('that is missing at the start keeps the service from starting, with its file, line and member', async () => {
    write(DEFAULT);
    const { infra } = served;
    const config = readAccountsConfig({
      NATS_URL: infra.natsUrl,
      EVENTSTORE_URL: infra.eventStoreUrl,
      DATABASE_URL: infra.databaseUrl,
      BERTH_DATA: join(file, '..'),
    });
    const start = launchService(AccountsModule, { config, log: quiet });
    await expect(start).rejects.toThrow(ConfigError);
    await expect(start).rejects.toThrow(`(${file}) line 3: plans must keep team, which accounts have`);
  });
});
