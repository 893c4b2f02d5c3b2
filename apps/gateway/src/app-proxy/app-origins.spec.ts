import { newId } from '@berth/kernel';
import type { HttpAdapterHost } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import type { GatewayConfig } from '../config.js';
import { agentIdOf, AppOrigins } from './app-origins.js';

const listening = { httpAdapter: { getHttpServer: () => ({ address: () => ({ port: 8081 }) }) } };

const originsOf = (config: Pick<GatewayConfig, 'publicUrl' | 'appsHost'>): AppOrigins =>
  new AppOrigins(config as GatewayConfig, listening as unknown as HttpAdapterHost);

const agentId = newId('agt');
const label = agentId.replace('_', '-');

describe('the URL of an app', () => {
  it.each([
    [undefined, undefined, `http://${label}.apps.localhost:8081`],
    ['https://berth.test', undefined, `http://${label}.apps.localhost:8081`],
    ['https://berth.test', 'apps.test', `https://${label}.apps.test`],
    ['http://berth.test', 'apps.test:8080', `http://${label}.apps.test:8080`],
    [undefined, 'apps.test', `http://${label}.apps.test`],
  ])('with BERTH_PUBLIC_URL %s and BERTH_APPS_HOST %s is %s', (publicUrl, appsHost, url) => {
    expect(originsOf({ publicUrl, appsHost }).urlOf(agentId)).toBe(url);
  });
});

describe("the origins of an app's own pages", () => {
  it.each([
    ['https://berth.test:8443', 'apps.test:8443', 'apps.test', [`https://${label}.apps.test:8443`]],
    ['https://berth.test', 'apps.test:443', 'apps.test', [`https://${label}.apps.test`]],
    [undefined, undefined, 'apps.localhost:9000', [`http://${label}.apps.localhost:8081`]],
  ])('with %s and %s behind %s include that of its URL', (publicUrl, appsHost, host, own) => {
    const named = `${label}.${host}`.toUpperCase();
    const scheme = publicUrl === undefined ? 'http' : 'https';
    expect(originsOf({ publicUrl, appsHost }).ownOrigins(agentId, named)).toEqual([
      ...own,
      `${scheme}://${named.toLowerCase()}`,
    ]);
  });
});

describe('the app that a Host header names', () => {
  const origins = originsOf({ publicUrl: undefined, appsHost: 'apps.test:8080' });

  it.each([
    `${label}.apps.test:8080`,
    `${label}.apps.test`,
    `${label.toUpperCase()}.APPS.Test:1`,
    `${label}.apps.test.:8080`,
  ])('is the agent in %s', (host) => expect(agentIdOf(origins.labelOf(host) ?? '')).toBe(agentId));

  it.each([
    `${agentId}.apps.test`,
    `x.${label}.apps.test`,
    `${label}x.apps.test`,
    'apps.test',
    'x.apps.test:8080',
  ])('is none in %s, which is no address of the API either', (host) => {
    const found = origins.labelOf(host);
    expect(found).toBeDefined();
    expect(agentIdOf(found ?? '')).toBeUndefined();
  });

  it.each([
    'localhost:8080',
    'test',
    `${label}.apps.test.evil`,
    `${label}apps.test`,
    '[::1]:8080',
    '',
    '127.0.0.1',
  ])('is not looked for in %s', (host) => expect(origins.labelOf(host)).toBeUndefined());
});
