import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as broker from '../../libs/platform/broker-users/src/broker-permissions.ts';
import { importedIn, librariesThatCall } from './calling-libraries.mjs';
import { formatted } from './formatted.mjs';
import { MODULES_SOURCE, renderModules, renderServices, SERVICES_SOURCE } from './services.mjs';
import { readWorkspace, walk } from './workspace.mjs';

export const ACCESS_SOURCE = 'libs/platform/broker-users/src/service-access.ts';
export const COMPOSE_USERS = 'infra/compose/nats-users.conf';

/**
 * Reads from the code what each service does on the broker: the requests it handles and sends, the events it publishes
 * and consumes. The permissions of its NATS user derive from this alone.
 */
export const accessOf = ({ packages }) => {
  const contracts = contractsOf(packages);
  const controllers = sharedControllers(packages);
  const libraries = librariesThatCall(packages, contracts);
  const problems = [];
  const used = new Map();
  for (const one of packages.filter(({ dir }) => dir.startsWith('apps/'))) {
    const service = one.dir.slice('apps/'.length);
    const [handles, calls, publishes] = [new Set(), new Set(), new Set()];
    const use = { handles, calls, publishes, consumes: new Map(), claim: 'none', tables: false };
    for (const file of one.files.filter(({ test, path }) => !test && !/fixture/.test(path)))
      readUse(file, { service, contracts, controllers, libraries, use, problems });
    used.set(service, use);
  }
  spreadOperations(used, contracts);
  const services = [...used].filter(([, { handles, calls }]) => handles.size > 0 || calls.size > 0);
  const access = Object.fromEntries(
    services
      .filter(([service]) => service !== 'bench')
      .map(([service, { handles, calls, publishes, consumes, ...rest }]) => [
        service,
        {
          handles: [...handles].sort(),
          calls: [...calls].sort(),
          publishes: [...publishes].sort(),
          consumes: [...consumes.values()].sort((a, b) => (a.durable < b.durable ? -1 : 1)),
          ...rest,
        },
      ])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return { access, problems };
};

/** `agentsRequests` → `create` → its subject, with `<context>` where it depends on the context (`operationsRequests`). */
const contractsOf = (packages) => {
  const found = new Map();
  for (const file of packages.filter(({ dir }) => dir === 'libs/contracts').flatMap(({ files }) => files)) {
    if (file.test) continue;
    walk(file.program, (node) => {
      if (node.type !== 'VariableDeclarator' || !/^[a-z]\w*Requests$/.test(node.id.name ?? '')) return;
      const requests = new Map();
      walk(node.init, (inner) => {
        if (inner.type !== 'Property' || inner.value.callee?.name !== 'defineRequest') return;
        requests.set(inner.key.name, subjectOf(inner.value.arguments[0]));
      });
      found.set(node.id.name, requests);
    });
  }
  return found;
};

const subjectOf = (node) =>
  node.type === 'TemplateLiteral'
    ? node.quasis.map(({ value }) => value.cooked).join('<context>')
    : node.value;

/** Controllers that services share: `operationsControllers` → the requests that it handles for its service. */
const sharedControllers = (packages) => {
  const own = new Map();
  const uses = new Map();
  for (const file of packages
    .filter(({ dir }) => dir.startsWith('libs/platform/'))
    .flatMap(({ files }) => files)) {
    if (file.test || /fixture/.test(file.path)) continue;
    walk(file.program, (node) => {
      if (node.type !== 'VariableDeclarator' || !/Controllers?$/.test(node.id.name ?? '')) return;
      own.set(
        node.id.name,
        handledIn(node.init).map(({ property }) => property?.name),
      );
      uses.set(node.id.name, calledIn(node.init));
    });
  }
  const all = (name) => [...(own.get(name) ?? []), ...(uses.get(name) ?? []).flatMap(all)];
  return new Map([...own.keys()].map((name) => [name, all(name)]));
};

const calledIn = (tree) => {
  const found = [];
  walk(tree, (node) => {
    if (node.type === 'CallExpression' && node.callee.type === 'Identifier') found.push(node.callee.name);
  });
  return found;
};

const handledIn = (tree) => {
  const found = [];
  walk(tree, (node) => {
    if (node.type === 'CallExpression' && node.callee.name === 'HandleRequest') found.push(node.arguments[0]);
  });
  return found;
};

const readUse = (file, { service, contracts, controllers, libraries, use, problems }) => {
  for (const name of importedIn(file.program))
    for (const subject of libraries.get(name) ?? []) use.calls.add(subject);
  const handled = new Set(handledIn(file.program));
  const operations = contracts.get('operationsRequests') ?? new Map();
  const usesOperations = file.imports.some(({ specifier }) => specifier === '@berth/contracts/operations');
  const report = (node, what) => problems.push(`${file.path}:${file.lineAt(node.start)}: ${what}`);
  walk(file.program, (node) => {
    if (node.type === 'MemberExpression' && contracts.has(node.object.name)) {
      const subject = contracts.get(node.object.name).get(node.property.name);
      if (node.computed || subject === undefined)
        report(node, 'name the request itself: the permissions are derived from it');
      else (handled.has(node) ? use.handles : use.calls).add(subject);
    }
    if (usesOperations && node.type === 'Identifier' && operations.has(node.name))
      use.calls.add(operations.get(node.name));
    if (node.type === 'CallExpression') {
      readCall(node, { service, controllers, operations, use });
      readModule(node, file, { service, controllers, operations, use, report });
    }
    if (node.type === 'NewExpression') readStreams(node, file, { use, report });
  });
};

const readCall = ({ callee }, { service, controllers, operations, use }) => {
  for (const name of controllers.get(callee.name) ?? [])
    use.handles.add(operations.get(name).replace('<context>', service));
  if (callee.name === 'openParts' || callee.name === 'claimInstallation') use.claim = 'takes';
  if (callee.name === 'installationHolder') use.claim = 'reads';
  if (callee.name === 'openParts' || callee.name === 'openTables') use.tables = true;
};

/** What `PlatformModule.forService`, `RelayModule.forFeature` and `@ConsumeEvents` make the platform do. */
const readModule = (node, file, { service, controllers, operations, use, report }) => {
  const [callee, options] = [node.callee, node.arguments[0]];
  const made =
    callee.type === 'MemberExpression' ? `${callee.object.name}.${callee.property.name}` : callee.name;
  if (made === 'PlatformModule.forService') {
    if (textOf(options, 'name', file) !== service)
      report(node, `give PlatformModule.forService the name '${service}' as a literal`);
    const has = (key) => options?.properties?.some((property) => property.key?.name === key);
    // Absent, or the literal `false`: its type allows nothing else.
    if (!has('eventLog')) {
      readCall(
        { callee: { name: has('tables') ? 'operationsControllers' : 'healthController' } },
        { service, controllers, operations, use },
      );
      use.claim = 'takes';
    }
    if (has('tables')) use.tables = true;
  }
  if (made === 'RelayModule.forFeature') use.publishes.add(service);
  if (made === 'ConsumeEvents') {
    const [context, durable] = [textOf(options, 'context', file), textOf(options, 'durable', file)];
    if (context === undefined || durable === undefined)
      report(node, 'give ConsumeEvents its names as literals: the permissions are derived from them');
    else use.consumes.set(durable, { context, durable });
  }
};

const readStreams = (node, file, { use, report }) => {
  const kind = node.callee.name;
  if (kind !== 'EventRelay' && kind !== 'EventConsumer') return;
  const context = textOf(node.arguments[0], 'context', file);
  const durable = textOf(node.arguments[0], 'durable', file);
  if (context === undefined || (kind === 'EventConsumer' && durable === undefined))
    report(node, `give ${kind} its names as literals: the permissions are derived from them`);
  else if (kind === 'EventRelay') use.publishes.add(context);
  else use.consumes.set(durable, { context, durable });
};

/** The value of a property of an object literal: a literal, or a constant of the same file. */
const textOf = (object, key, file) => {
  const value = object?.properties?.find((property) => property.key?.name === key)?.value;
  if (value?.type !== 'Identifier') return value?.value;
  let constant;
  walk(file.program, (node) => {
    if (node.type === 'VariableDeclarator' && node.id.name === value.name) constant = node.init?.value;
  });
  return constant;
};

/** A service that calls a request of every context calls each service that handles it. */
const spreadOperations = (used) => {
  const handled = new Set([...used.values()].flatMap(({ handles }) => [...handles]));
  for (const { calls } of used.values()) {
    for (const subject of [...calls].filter((one) => one.includes('<context>'))) {
      calls.delete(subject);
      const form = new RegExp(`^${subject.replaceAll('.', '\\.').replace('<context>', '[a-z-]+')}$`);
      for (const one of handled) if (form.test(one)) calls.add(one);
    }
  }
};

const render = async (workspace, path) => {
  const { access } = accessOf(workspace);
  if (path === ACCESS_SOURCE) return renderSource(access);
  if (path === SERVICES_SOURCE) return renderServices(access);
  if (path === MODULES_SOURCE) return renderModules(workspace, access);
  return renderCompose(access);
};

const renderSource = (access) => {
  const services = Object.keys(access).map((name) => `'${name}'`);
  return formatted(
    ACCESS_SOURCE,
    `// Generated from the services' code by \`npm run pages\`; the checks fail when it is out of date.
import type { ServiceAccess } from './broker-permissions.js';

/** Every service has its own NATS user. */
export type ServiceName = ${services.join(' | ')};

/** What each service does on the broker. */
export const SERVICE_ACCESS: Readonly<Record<ServiceName, ServiceAccess>> = ${JSON.stringify(access)};
`,
  );
};

const renderCompose = (access) => {
  const ofHost = (...names) => names.map((name) => `$NATS_HOST_${name}`);
  const users = Object.entries(access).map(([service, one]) => {
    const { publish, subscribe } = broker.permissionsOf(service, one, { instance: 'berth', hosts: [] });
    const isHost = one.handles.some((subject) => subject.includes('{host}'));
    return {
      user: service,
      password: `$${broker.passwordVariableOf(service)}`,
      permissions: {
        publish: isHost ? [...publish, ...ofHost('REPLIES', 'REPORTS', 'COMPUTERS', 'SCHEDULES')] : publish,
        subscribe: isHost ? [...subscribe, ...ofHost('INBOX', 'COMMANDS', 'QUERIES')] : subscribe,
      },
    };
  });
  return `# Generated from the services' code by \`npm run pages\`; the checks fail when it is out of date.
# One user for each service, with only the permissions it needs. The container's entry point sets the variables.
${broker.authorizationBlock(users)}
`;
};

const OUTPUTS = [ACCESS_SOURCE, COMPOSE_USERS, SERVICES_SOURCE, MODULES_SOURCE];

/** Writes the permissions of every service. */
export const writeBrokerAccess = async (workspace) => {
  for (const path of OUTPUTS) writeFileSync(join(workspace.root, path), await render(workspace, path));
};

/** Checks that the permissions match the code: a new call without its permission would fail in production. */
export const checkBrokerAccess = async (workspace) => {
  const { access, problems } = accessOf(workspace);
  for (const path of OUTPUTS) {
    if (readText(join(workspace.root, path)) !== (await render(workspace, path)))
      problems.push(`${path} is out of date: run npm run pages and review the changed permissions`);
  }
  return { problems, read: Object.keys(access).length };
};

const readText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const workspace = readWorkspace(root);
  if (process.argv.includes('--write')) await writeBrokerAccess(workspace);
  else process.stdout.write(`${JSON.stringify(accessOf(workspace), null, 2)}\n`);
}
