import { randomBytes } from 'node:crypto';
import { DomainError, type Clock } from '@berth/kernel';
import { expect, it } from 'vitest';
import { EndUserKeys } from './end-user-keys.js';

const bytes = randomBytes(32);

/** `end-users` with the key of one end user, and a clock. */
class World implements Clock {
  requests = 0;
  time = 0;
  down = false;
  key: string | null = bytes.toString('base64');
  readonly keys = new EndUserKeys({ request: () => this.request() }, this);

  now(): number {
    return this.time;
  }

  private request<Res>(): Promise<Res> {
    this.requests++;
    return this.down
      ? Promise.reject(new DomainError('unavailable', 'service_unavailable', 'No response.'))
      : Promise.resolve({ key: this.key } as Res);
  }
}

it('a key is requested once, also by concurrent callers, and again after ten minutes', async () => {
  const world = new World();
  const found = await Promise.all([world.keys.find('eus_1'), world.keys.find('eus_1')]);
  expect(found.map((key) => Buffer.from(key?.bytes ?? []))).toEqual([bytes, bytes]);
  world.time = 599_999;
  await world.keys.find('eus_1');
  expect(world.requests).toBe(1);
  world.time = 600_000;
  world.key = null;
  expect(await world.keys.find('eus_1')).toBeNull();
  expect(world.requests).toBe(2);
});

it('an outage of end-users is an error, which is not kept', async () => {
  const world = new World();
  world.down = true;
  await expect(world.keys.find('eus_1')).rejects.toMatchObject({ code: 'service_unavailable' });
  world.down = false;
  expect(await world.keys.find('eus_1')).not.toBeNull();
});
