import { setTimeout as sleep } from 'node:timers/promises';
import { defineRequest, DomainError } from '@berth/kernel';
import { requestContext } from '@berth/telemetry';
import { Controller, Module, type DynamicModule } from '@nestjs/common';
import { HandleRequest } from '../handle-request.decorator.js';

export const echoRequests = {
  echo: defineRequest<{ text: string }, { text: string; by: string; requestId: string | undefined }>(
    'qry.echo.echo.v1',
    5_000,
  ),
  wait: defineRequest<{ ms: number }, string>('cmd.echo.wait.v1', 20_000),
  refuse: defineRequest<null, never>('cmd.echo.refuse.v1'),
  count: defineRequest<null, bigint>('qry.echo.count.v1'),
  breakDown: defineRequest<null, never>('cmd.echo.break-down.v1'),
  grow: defineRequest<{ bytes: number }, string>('qry.echo.grow.v1'),
  onHost: defineRequest<null, string>('cmd.echo.on-host.v1.{host}'),
  fromHost: defineRequest<{ host: string }, string>('cmd.echo.from-host.v1.{from}'),
  whoIsThere: defineRequest<null, string>('qry.echo.who-is-there.v1'),
};

/** A service named `by` that replies, waits, refuses and fails on request. */
export const echoModule = (by: string): DynamicModule => {
  @Controller()
  class EchoController {
    @HandleRequest(echoRequests.echo)
    echo({ text }: { text: string }) {
      return Promise.resolve({ text, by, requestId: requestContext.current()?.requestId });
    }

    @HandleRequest(echoRequests.wait)
    async wait({ ms }: { ms: number }) {
      await sleep(ms);
      return by;
    }

    @HandleRequest(echoRequests.refuse)
    refuse(): Promise<never> {
      throw new DomainError('conflict', 'agent_deploying', 'Wait for it.', {
        agentId: 'agt_1',
        nested: [1, null],
      });
    }

    @HandleRequest(echoRequests.count)
    count() {
      return Promise.resolve(1n);
    }

    @HandleRequest(echoRequests.breakDown)
    async breakDown(): Promise<never> {
      await sleep(1);
      throw new Error('password=hunter2 at /srv/secret.ts');
    }

    @HandleRequest(echoRequests.grow)
    grow({ bytes }: { bytes: number }) {
      return Promise.resolve('x'.repeat(bytes));
    }

    @HandleRequest(echoRequests.fromHost)
    fromHost({ host }: { host: string }) {
      return host;
    }

    @HandleRequest(echoRequests.onHost)
    onHost() {
      return Promise.resolve(by);
    }

    @HandleRequest(echoRequests.whoIsThere, { broadcast: true })
    whoIsThere() {
      return Promise.resolve(by);
    }
  }
  @Module({ controllers: [EchoController] })
  class EchoModule {}
  return { module: EchoModule };
};
