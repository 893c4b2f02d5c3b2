import type { Berth } from './index.js';

const AGENT = {
  externalId: 'x',
  externalUserId: 'u',
  instructions: 'Be brief.',
  idleTtlSeconds: 0,
  labels: { team: 'a' },
  env: { A: 'b' },
  resources: { memMb: 256 },
} as const;
const PAGE = { cursor: 'c', limit: 2 } as const;
const RANGE = { from: '2026-01-01T00:00:00Z', to: new Date(0) } as const;
const RUN = { timeout: 5, cwd: '/', env: { A: 'b' } } as const;
const DRAIN = { drainSeconds: 5 } as const;
const BYTES = Uint8Array.of(255);

type Calls = Readonly<Record<string, (berth: Berth) => PromiseLike<unknown>>>;

/** Every method, called with everything that it takes. */
export const CALLS: Calls = {
  health: (b) => b.health(),
  'templates.list': (b) => b.templates.list(),
  'agents.list': (b) =>
    b.agents.list({
      externalId: 'x',
      externalUserId: 'u',
      state: 'running',
      name: 'n',
      label: 'a=b',
      ...PAGE,
    }),
  'agents.create': (b) => b.agents.create({ name: 'n', templateId: 'echo', ...AGENT }),
  'agents.update': (b) =>
    b.agents.update('a', {
      ...{ name: 'n', externalId: null, instructions: null, idleTtlSeconds: 0 },
      ...{ labels: {}, resources: { vcpus: 1 } },
    }),
  'agents.get': (b) => b.agents.get('a', { wait: 'running', waitTimeout: 5 }),
  'agents.start': (b) => b.agents.start('a', DRAIN),
  'agents.stop': (b) => b.agents.stop('a', DRAIN),
  'agents.sleep': (b) => b.agents.sleep('a', DRAIN),
  'agents.restart': (b) => b.agents.restart('a', DRAIN),
  'agents.delete': (b) => b.agents.delete('a'),
  'agents.stats': (b) => b.agents.stats('a'),
  'agents.schedules': (b) => b.agents.schedules('a'),
  'agents.chat': (b) => b.agents.chat('a', 'hi', { conversationId: 'c' }),
  'agents.exec': (b) => b.agents.exec('a', ['ls', '-l'], RUN),
  'agents.logs': (b) => b.agents.logs('a', { level: 'warn', since: new Date(0), source: 'agent', ...PAGE }),
  'files.list': (b) => b.files.list('a', 'in'),
  'files.list of bytes': (b) => b.files.list('a', BYTES),
  'files.download': (b) => b.files.download('a', '/etc/hosts'),
  'files.download of bytes': (b) => b.files.download('a', BYTES),
  'files.upload': (b) => b.files.upload('a', 'x', { name: 'n', destDir: 'in', message: 'look' }),
  'files.upload of bytes': (b) => b.files.upload('a', 'x', { name: 'n', destDir: BYTES }),
  'files.write': (b) => b.files.write('a', 'x', 'text'),
  'files.write of bytes': (b) => b.files.write('a', BYTES, 'text'),
  'files.mkdir': (b) => b.files.mkdir('a', 'x'),
  'files.mkdir of bytes': (b) => b.files.mkdir('a', BYTES),
  'files.move': (b) => b.files.move('a', 'x', 'y'),
  'files.move of bytes': (b) => b.files.move('a', BYTES, BYTES),
  'files.delete': (b) => b.files.delete('a', 'x'),
  'files.delete of bytes': (b) => b.files.delete('a', BYTES),
  'env.list': (b) => b.env.list('a'),
  'env.set': (b) => b.env.set('a', 'KEY', 'value', { secret: true }),
  'env.delete': (b) => b.env.delete('a', 'KEY'),
  'env.reload': (b) => b.env.reload('a'),
  'deployments.create': (b) =>
    b.deployments.create({
      ...{ agentId: 'a', source: 'git', repoUrl: 'https://example.org/x', branch: 'main', ref: 'v1' },
      ...{ path: 'app', build: 'make', start: './run', port: 80, tokenEnv: 'TOKEN', tokenUser: 'me' },
      image: 'debian',
    }),
  'deployments.list': (b) => b.deployments.list('a', PAGE),
  'deployments.get': (b) => b.deployments.get('a', 'd'),
  'deployments.redeploy': (b) => b.deployments.redeploy('a', 'd'),
  'webhooks.token': (b) => b.webhooks.token('a'),
  'webhooks.rotate': (b) => b.webhooks.rotate('a'),
  'webhooks.getVerification': (b) => b.webhooks.getVerification('a'),
  'webhooks.setVerification': (b) => b.webhooks.setVerification('a', { scheme: 'github', secretEnv: 'S' }),
  'webhooks.invoke': (b) => b.webhooks.invoke('a', { message: 'hi' }, { token: 'wh_x' }),
  'webhooks.deliveries': (b) => b.webhooks.deliveries('a', { status: 'queued', ...PAGE }),
  'webhooks.redeliver': (b) => b.webhooks.redeliver('a', 'd'),
  'endUsers.put': (b) =>
    b.endUsers.put('u@example.org', { displayName: null, metadata: { a: 1 }, tags: ['t'] }),
  'endUsers.list': (b) =>
    b.endUsers.list({
      ...{ status: 'active', tag: 't', externalIdPrefix: 'u', lastActiveBefore: new Date(0) },
      ...{ lastActiveAfter: '2026-01-01T00:00:00Z', ...PAGE },
    }),
  'endUsers.get': (b) => b.endUsers.get('u'),
  'endUsers.delete': (b) => b.endUsers.delete('u'),
  'endUsers.suspend': (b) => b.endUsers.suspend('u'),
  'endUsers.resume': (b) => b.endUsers.resume('u'),
  'endUsers.agents': (b) => b.endUsers.agents('u'),
  'endUsers.createAgent': (b) => b.endUsers.createAgent('u', { name: 'n', templateId: 'echo', ...AGENT }),
  'endUsers.createToken': (b) =>
    b.endUsers.createToken('u', { scopes: ['chat'], ttlSeconds: 60, agentId: 'a' }),
  'endUsers.revokeTokens': (b) => b.endUsers.revokeTokens('u'),
  'endUsers.getPolicy': (b) => b.endUsers.getPolicy('u'),
  'endUsers.setPolicy': (b) => b.endUsers.setPolicy('u', { wakes_per_hour: 1 }),
  'endUsers.deletePolicy': (b) => b.endUsers.deletePolicy('u'),
  'endUsers.getDefaults': (b) => b.endUsers.getDefaults(),
  'endUsers.setDefaults': (b) => b.endUsers.setDefaults({ wakes_per_hour: 1 }),
  'endUsers.deleteDefaults': (b) => b.endUsers.deleteDefaults(),
  'usage.total': (b) => b.usage.total({ externalUserId: 'u', agentId: 'a', ...RANGE, ...PAGE }),
  'usage.daily': (b) => b.usage.daily({ externalUserId: 'u', agentId: 'a', ...RANGE, ...PAGE }),
  'usage.llmCalls': (b) => b.usage.llmCalls({ agentId: 'a', ...RANGE, ...PAGE }),
  'computers.create': (b) =>
    b.computers.create({ externalUserId: 'u', name: 'n', display: { width: 800 }, idleTtlSeconds: 0 }),
  'computers.list': (b) => b.computers.list({ externalUserId: 'u', status: 'running', ...PAGE }),
  'computers.usage': (b) => b.computers.usage({ externalUserId: 'u', computerId: 'c', ...RANGE, ...PAGE }),
  'computers.get': (b) => b.computers.get('c'),
  'computers.delete': (b) => b.computers.delete('c'),
  'computers.wake': (b) => b.computers.wake('c'),
  'computers.sleep': (b) => b.computers.sleep('c'),
  'computers.sessions': (b) => b.computers.sessions('c'),
  'computers.actions': (b) =>
    b.computers.actions(
      'c',
      { type: 'click', x: 1, y: 2 },
      {
        ...{ screenshot: true, scale: 0.5, stopOnError: false, acknowledged_safety_checks: [{ id: 's' }] },
      },
    ),
  'computers.screenshot': (b) => b.computers.screenshot('c', { format: 'jpeg', quality: 50, scale: 0.5 }),
  'computers.exec': (b) => b.computers.exec('c', 'ls', RUN),
  'computers.download': (b) => b.computers.download('c', 'x'),
  'computers.download of bytes': (b) => b.computers.download('c', BYTES),
  'computers.upload': (b) => b.computers.upload('c', 'x', 'content'),
  'computers.upload of bytes': (b) => b.computers.upload('c', BYTES, 'content'),
  'computers.listFiles': (b) => b.computers.listFiles('c', 'x'),
  'computers.listFiles of bytes': (b) => b.computers.listFiles('c', BYTES),
  'computers.viewer': (b) => b.computers.viewer('c', { mode: 'control', ttlSeconds: 60, takeover: true }),
  'computers.closeSessions': (b) => b.computers.closeSessions('c', { sessionId: 's' }),
  'keys.mint': (b) => b.keys.mint({ name: 'n', scopes: ['read'], expiresAt: '2030-01-01T00:00:00Z' }),
  'keys.list': (b) => b.keys.list(PAGE),
  'keys.revoke': (b) => b.keys.revoke('k'),
  'account.get': (b) => b.account.get(),
  'audit.list': (b) => b.audit.list({ actor: 'k', resource: 'a', action: 'agent.create', ...RANGE, ...PAGE }),
  'feedback.send': (b) =>
    b.feedback.send({ kind: 'bug', message: 'm', subject: 's', tool: 't', requestId: 'r', statusCode: 500 }),
  'operations.accounts.create': (b) => b.operations.accounts.create({ name: 'n', planId: 'p' }),
  'operations.accounts.list': (b) => b.operations.accounts.list(PAGE),
  'operations.accounts.get': (b) => b.operations.accounts.get('a'),
  'operations.accounts.update': (b) =>
    b.operations.accounts.update('a', { name: 'n', planId: 'p', suspended: true }),
  'operations.accounts.createKey': (b) => b.operations.accounts.createKey('a'),
  'operations.credits.grant': (b) => b.operations.credits.grant('a', { cents: 5, note: 'n' }),
  'operations.hosts.list': (b) => b.operations.hosts.list(PAGE),
  'operations.hosts.drain': (b) => b.operations.hosts.drain('h'),
  'operations.hosts.resume': (b) => b.operations.hosts.resume('h'),
  'operations.hosts.delete': (b) => b.operations.hosts.delete('h'),
  'operations.projections.list': (b) => b.operations.projections.list(),
  'operations.projections.rebuild': (b) => b.operations.projections.rebuild('p'),
  'operations.deadLetters.list': (b) => b.operations.deadLetters.list(PAGE),
  'operations.deadLetters.replay': (b) => b.operations.deadLetters.replay('d'),
  'operations.deadLetters.delete': (b) => b.operations.deadLetters.delete('d'),
  'operations.feedback.list': (b) => b.operations.feedback.list(PAGE),
  'operations.usageRecount': (b) => b.operations.usageRecount(RANGE),
};

/** Their requests are those of the methods above. */
export const OTHERS = [
  'request',
  'agents.provision',
  'agents.chatStream',
  'agents.followLogs',
  'deployments.wait',
];
