import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accessOf, checkBrokerAccess, writeBrokerAccess } from './broker-access.mjs';
import { checkCompose } from './compose.check.mjs';
import { Scratch } from './workspace.fixture.js';
import { readWorkspace } from './workspace.mjs';

describe('secrets of the broker in compose files', () => {
  it('are rejected if they belong to another service or if agents can read them', () => {
    using scratch = new Scratch();
    scratch.write('Dockerfile', 'FROM scratch AS runtime');
    scratch.write(
      'docker-compose.yml',
      [
        'services:',
        '  gateway: {build: {context: .}, command: [gateway], secrets: [nats_url_agents]}',
        '  files: {build: {context: .}, command: [files], secrets: [nats_url_files, nats_users]}',
        '  runtime: {build: {context: ., target: runtime}, command: [runtime], secrets: [nats_url_runtime]}',
        'secrets: {nats_url_agents: {}, nats_url_files: {}, nats_url_runtime: {}, nats_users: {}}',
      ].join('\n'),
    );
    const found = checkCompose(readWorkspace(scratch.root)).problems.join('\n');
    for (const message of [
      /gateway must mount the secret nats_url_gateway and no other/,
      /files must mount the secret nats_url_files and no other/,
      /runtime must mount nats_url_runtime below \/etc\/berth\/secrets/,
      /Dockerfile must close \/etc\/berth\/secrets to agents/,
    ]) {
      expect(found).toMatch(message);
    }
  });
});

describe('permissions on the broker', () => {
  const sources = (calls: string): string =>
    [
      "import { agentsRequests } from '@berth/contracts/agents';",
      "import { EventConsumer } from '@berth/messaging';",
      `export const ask = (requester) => requester.request(agentsRequests.${calls}, {});`,
      "export const consumer = new EventConsumer({ context: 'agents', durable: 'x__y' });",
    ].join('\n');

  const workspaceThatCalls = (scratch: Scratch, call: string): ReturnType<typeof readWorkspace> => {
    scratch.contract('agents', {
      'index.ts': '',
      'agents.requests.ts':
        "export const agentsRequests = { get: defineRequest('qry.agents.get.v1'), stop: defineRequest('cmd.agents.stop.v1') };",
    });
    scratch.pack('apps/gateway', 'app', { 'ask.ts': sources(call) });
    const folders = [
      ...['libs/platform/broker-users/src', 'libs/contracts/src/operations'],
      ...['apps/standalone/src', 'infra/compose'],
    ];
    for (const path of folders) mkdirSync(join(scratch.root, path), { recursive: true });
    return readWorkspace(scratch.root);
  };

  it('list what the code calls and consumes', () => {
    using scratch = new Scratch();
    expect(accessOf(workspaceThatCalls(scratch, 'get')).access['gateway']).toEqual({
      handles: [],
      calls: ['qry.agents.get.v1'],
      publishes: [],
      consumes: [{ context: 'agents', durable: 'x__y' }],
      claim: 'none',
      tables: false,
    });
  });

  it('follow from the modules and decorators of the platform', () => {
    using scratch = new Scratch();
    scratch.contract('operations', {
      'index.ts': '',
      'operations.requests.ts':
        'export const operationsRequests = (context) => ({ health: defineRequest(`qry.${context}.health.v1`) });',
    });
    scratch.pack('libs/platform/operations', 'platform', {
      'controllers.ts':
        'export const healthController = (c) => { const requests = operationsRequests(c); class C { @HandleRequest(requests.health) look() {} } };\n' +
        'export const operationsControllers = (c) => [healthController(c)];',
    });
    const imports = (name: string): string =>
      `imports: [PlatformModule.forService({ name: '${name}', tables: {} }), RelayModule.forFeature({})]`;
    scratch.pack('apps/exec', 'app', {
      'exec.module.ts': `@Module({ ${imports('exec')} }) export class ExecModule {}`,
      'react.ts': "@ConsumeEvents({ context: 'agents', durable: 'exec__ends' }) export class React {}",
    });
    const { access, problems } = accessOf(readWorkspace(scratch.root));
    expect(problems).toEqual([]);
    expect(access['exec']).toEqual({
      handles: ['qry.exec.health.v1'],
      calls: [],
      publishes: ['exec'],
      consumes: [{ context: 'agents', durable: 'exec__ends' }],
      claim: 'takes',
      tables: true,
    });
    scratch.write(
      'apps/exec/src/exec.module.ts',
      "@Module({ imports: [PlatformModule.forService({ name: 'exec', eventLog: false })] }) export class M {}",
    );
    expect(accessOf(readWorkspace(scratch.root)).access).toEqual({});
    scratch.write('apps/exec/src/exec.module.ts', `@Module({ ${imports('other')} }) export class M {}`);
    expect(accessOf(readWorkspace(scratch.root)).problems.join()).toMatch(/the name 'exec' as a literal/);
  });

  it('include what the classes of the platform send that a service uses, and no others of their library', () => {
    using scratch = new Scratch();
    scratch.contract('agents', {
      'index.ts': '',
      'agents.requests.ts':
        "export const agentsRequests = { get: defineRequest('qry.agents.get.v1'), stop: defineRequest('cmd.agents.stop.v1') };",
    });
    scratch.pack('libs/platform/asking', 'platform', {
      'index.ts': "export { Asking } from './asking.js'; export { Stopping } from './stopping.js';",
      'asking.ts': 'export class Asking { ask() { return send(agentsRequests.get, {}); } }',
      'stopping.ts': 'export class Stopping { stop() { return send(agentsRequests.stop, {}); } }',
    });
    scratch.pack('apps/exec', 'app', {
      'exec.module.ts':
        "import { Asking } from '@berth/platform-asking';\nimport type { Stopping } from '@berth/platform-asking';\nexport const providers = [Asking];",
    });
    expect(accessOf(readWorkspace(scratch.root)).access['exec']).toMatchObject({
      calls: ['qry.agents.get.v1'],
    });
  });

  it('are reported as out of date when a new call lacks its permission', async () => {
    using scratch = new Scratch();
    const written = workspaceThatCalls(scratch, 'get');
    await writeBrokerAccess(written);
    expect((await checkBrokerAccess(written)).problems).toEqual([]);
    const changed = workspaceThatCalls(scratch, 'stop');
    expect((await checkBrokerAccess(changed)).problems.join('\n')).toMatch(
      /service-access\.ts is out of date.*nats-users\.conf is out of date/s,
    );
  });

  it('cannot be derived from a computed request', () => {
    using scratch = new Scratch();
    const { problems } = accessOf(workspaceThatCalls(scratch, 'get, agentsRequests[name]'));
    expect(problems.join()).toMatch(/name the request itself/);
  });
});
