import { walk } from './workspace.mjs';

const GATEWAY = /^apps\/gateway\/src\//;
const STATUSES = 'apps/gateway/src/errors/error-status.ts';
const OWN_CODES = 'apps/gateway/src/errors/gateway.errors.ts';

/**
 * Checks that the declared errors are those that the code throws: every declared code is thrown somewhere, with its kind or
 * its status, and every thrown code is declared or never reaches a caller of the API.
 */
export const checkErrorCodes = ({ packages }) => {
  const files = packages.flatMap((one) => one.files).filter((file) => !file.test);
  const statusOf = statusesIn(files.find(({ path }) => path === STATUSES));
  const documented = files.flatMap((file) => declaredIn(file, statusOf));
  const thrown = files.flatMap((file) => thrownIn(file, statusOf));
  const literals = new Set(files.flatMap(textsIn));
  const problems = [
    ...[...INTERNAL]
      .filter((code) => statusOf.size > 0 && !thrown.some((entry) => entry.code === code))
      .map((code) => `tools/checks/error-codes.check.mjs: '${code}' is exempt but thrown nowhere`),
    ...documented.flatMap((entry) => notThrown(entry, thrown, literals)),
    ...notDocumented(thrown, new Set(documented.map(({ code }) => code))),
  ];
  return { problems, read: documented.length };
};

/** Codes that no registry declares, by reason. */
const NOT_DOCUMENTED = {
  'on a request that matches no endpoint': [
    'not_found',
    'method_not_allowed',
    'expectation_failed',
    'headers_too_large',
    'request_aborted',
  ],
  'between a service and a host, or a host and a guest': [
    'agent_asleep',
    'agent_not_frozen',
    'agent_not_on_host',
    'already_configured',
    'clipboard_unresponsive',
    'display_lost',
    'display_unresponsive',
    'display_unsupported',
    'execution_unknown',
    'guest_route_unknown',
    'guest_unreachable',
    'images_too_large',
    'invalid_size',
    'other_event_log',
    'host_removed',
    'staged_file_exists',
    'staged_file_unknown',
    'stale_epoch',
    'ticket_unknown',
    'too_many_viewers',
    'untypable_text',
  ],
  'only by a fault of a service': [
    'account_not_found',
    'event_too_large',
    'invalid_command_id',
    'stream_deleted',
  ],
  'at the start of the embedded event store': [
    'event_store_foreign_file',
    'event_store_in_use',
    'event_store_too_new',
  ],
};
const INTERNAL = new Set(Object.values(NOT_DOCUMENTED).flat());

const notThrown = ({ code, status, where }, thrown, literals) => {
  const throwers = thrown.filter((entry) => entry.code === code);
  if (throwers.length === 0)
    return literals.has(code) ? [] : [`${where}: declares ${status} '${code}', which nothing throws`];
  return throwers.some((entry) => entry.status === status || entry.status === undefined)
    ? []
    : [`${where}: declares ${status} '${code}', which is thrown as ${throwers.map((entry) => entry.status)}`];
};

const notDocumented = (thrown, codes) => {
  const missing = thrown.filter(({ code }) => !codes.has(code) && !INTERNAL.has(code));
  return missing.map(({ code, where }) => `${where}: throws '${code}', which no registry declares`);
};

/** Finds the members of `defineErrors({ agent_failed: { kind: 'conflict', … } })`, and those of the gateway's own registry. */
const declaredIn = (file, statusOf) => {
  const found = [];
  const add = (object, statusIn) => {
    for (const { key, value } of object?.properties ?? []) {
      const where = `${file.path}:${file.lineAt(key.start)}`;
      found.push({ code: key.name ?? key.value, status: statusIn(value), where });
    }
  };
  const memberOf = (node, name) => node.properties?.find(({ key }) => key.name === name)?.value?.value;
  walk(file.program, (node) => {
    if (node.type === 'CallExpression' && node.callee.name === 'defineErrors')
      add(node.arguments[0], (value) => statusOf.get(memberOf(value, 'kind')));
    if (file.path === OWN_CODES && node.type === 'VariableDeclarator' && node.id.name === 'gatewayErrors')
      add(objectIn(node.init), (value) => memberOf(value, 'status'));
  });
  return found;
};

/** The literal below `as const satisfies …`. */
const objectIn = (node) => (node?.expression === undefined ? node : objectIn(node.expression));

const isText = (node) => node?.type === 'Literal' && typeof node.value === 'string';

/** Finds `new DomainError('conflict', 'agent_failed', …)` and `new HttpRefusal(405, 'method_not_allowed', …)`. */
const thrownIn = (file, statusOf) => {
  const found = [];
  walk(file.program, (node) => {
    if (node.type !== 'NewExpression' || !['DomainError', 'HttpRefusal'].includes(node.callee.name)) return;
    const [first, code] = node.arguments;
    if (!isText(code)) return;
    const status = isText(first) ? statusOf.get(first.value) : first.value;
    found.push({ code: code.value, status, where: `${file.path}:${file.lineAt(node.start)}` });
  });
  return found;
};

/** Reads the gateway's table from kind to status. */
const statusesIn = (file) => {
  const found = new Map();
  walk(file?.program ?? null, (node) => {
    if (node.type !== 'VariableDeclarator' || node.id.name !== 'STATUS_OF_KIND') return;
    for (const { key, value } of node.init.properties) found.set(key.name ?? key.value, value.value);
  });
  return found;
};

/** All string literals of the file, except the lists of codes that the gateway's routes declare. */
const textsIn = (file) => {
  const found = [];
  const declared = new Set();
  walk(file.program, (node) => {
    if (GATEWAY.test(file.path) && node.type === 'ArrayExpression')
      for (const element of node.elements) declared.add(element);
    if (isText(node) && !declared.has(node)) found.push(node.value);
  });
  return found;
};
