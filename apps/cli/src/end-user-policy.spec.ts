import { policy } from '@berth/contracts/schema';
import { describe, expect, it } from 'vitest';
import { berth } from './recording-service.fixture.js';

const POLICY = '/api/v1/end-users/ada/policy';
const DEFAULTS = '/api/v1/end-user-defaults';

describe.each([
  [['policy'], ['ada'], POLICY],
  [['defaults'], [], DEFAULTS],
])('berth end-users %s', (group, argument, url) => {
  const command = (verb: string, ...options: string[]) => [
    'end-users',
    ...group,
    verb,
    ...argument,
    ...options,
  ];

  it('prints the policy, and nothing on standard output where there is none', async () => {
    const respond = () => ({ status: 200, body: { policy: { wakes_per_hour: 10, vcpus: 0.5 } } });
    const table = await berth(command('get'), { respond });
    expect(table).toMatchObject({ exitCode: 0, seen: [{ method: 'GET', url }] });
    expect(table.out).toMatch(/^wakes_per_hour +10\nvcpus +0\.5$/m);
    const json = await berth(command('get', '--json'), { respond });
    expect(JSON.parse(json.out)).toEqual({ policy: { wakes_per_hour: 10, vcpus: 0.5 } });
    const none = await berth(command('get'), { respond: () => ({ status: 200, body: { policy: null } }) });
    expect(none).toMatchObject({ exitCode: 0, out: '' });
    expect(none.err).not.toBe('');
  });

  it('has an option for every member and sends those that are given', async () => {
    const respond = () => ({ status: 200, body: { policy: {}, agentsUpdated: 2 } });
    const all = await berth(
      command(
        'set',
        ...['--llm-spend-cap-cents-per-month', '0'],
        ...['--compute-minutes-cap', '1000000'],
        ...['--wakes-per-hour', '10'],
        ...['--idle-sleep-seconds', '15'],
        ...['--mem-mb', '65536'],
        ...['--vcpus', '0.1'],
        ...['--disk-gb', '1'],
      ),
      { respond },
    );
    const body = {
      policy: {
        llm_spend_cap_cents_per_month: 0,
        compute_minutes_cap: 1_000_000,
        wakes_per_hour: 10,
        idle_sleep_seconds: 15,
        mem_mb: 65_536,
        vcpus: 0.1,
        disk_gb: 1,
      },
    };
    expect(Object.keys(body.policy).sort()).toEqual(Object.keys(policy.properties).sort());
    expect(all).toMatchObject({ exitCode: 0, seen: [{ method: 'PUT', url, body }] });
    const none = await berth(command('set'), { respond });
    expect(none.seen[0]?.body).toEqual({ policy: {} });
  });

  it.each([
    ['--wakes-per-hour', '3601', 'a whole number from 0 to 3600'],
    ['--wakes-per-hour', '1.5', 'a whole number from 0 to 3600'],
    ['--wakes-per-hour', 'ten', 'a whole number from 0 to 3600'],
    ['--wakes-per-hour', '', 'a whole number from 0 to 3600'],
    ['--wakes-per-hour', '-1', 'a whole number from 0 to 3600'],
    ['--mem-mb', '127', 'a whole number from 128 to 65536'],
    ['--vcpus', '0.09', 'a number from 0.1 to 32'],
  ])('set refuses %s %j without a request', async (option, value, message) => {
    const result = await berth(command('set', option, value));
    expect(result).toMatchObject({ exitCode: 2, seen: [] });
    expect(result.err).toContain(`Give ${message}.`);
  });

  it('deletes it', async () => {
    const result = await berth(command('delete'), { respond: () => ({ status: 204 }) });
    expect(result).toMatchObject({ exitCode: 0, out: '', seen: [{ method: 'DELETE', url }] });
  });
});

describe('berth end-users policy set', () => {
  it('says for how many agents the policy is in force', async () => {
    const respond = () => ({ status: 200, body: { externalId: 'ada', policy: {}, agentsUpdated: 2 } });
    const { err } = await berth(['end-users', 'policy', 'set', 'ada'], { respond });
    expect(err).toContain('Agents: 2.');
  });
});
