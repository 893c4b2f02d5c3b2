import { walk } from './workspace.mjs';

const GATEWAY = /^apps\/gateway\/src\//;
const STATUSES = 'apps/gateway/src/http/error-answer.ts';

/**
 * Checks that the API documents the errors that the code throws: every documented code is thrown somewhere, with a kind
 * that maps to the documented status, and every thrown code is documented or never reaches a caller of the API.
 */
export const checkErrorCodes = ({ packages }) => {
  const files = packages.flatMap((one) => one.files).filter((file) => !file.test);
  const documented = files.filter(({ path }) => GATEWAY.test(path)).flatMap(documentedIn);
  const described = new Set(documented.map(({ node }) => node));
  const statusOf = statusesIn(files.find(({ path }) => path === STATUSES));
  const thrown = files.flatMap((file) => thrownIn(file, statusOf));
  const said = new Set(files.flatMap((file) => textsIn(file, described)));
  const problems = [
    ...[...INTERNAL]
      .filter((code) => statusOf.size > 0 && !thrown.some((entry) => entry.code === code))
      .map((code) => `tools/checks/error-codes.check.mjs: '${code}' is exempt but thrown nowhere`),
    ...documented.flatMap((entry) => notThrown(entry, thrown, said)),
    ...notDocumented(thrown, new Set(documented.map(({ code }) => code))),
  ];
  return { problems, read: documented.length };
};

/** Codes that no endpoint documents, by reason. */
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
    'execution_unknown',
    'guest_route_unknown',
    'guest_unreachable',
    'internal',
    'invalid_size',
    'other_event_log',
    'staged_file_exists',
    'staged_file_unknown',
    'stale_epoch',
    'ticket_unknown',
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

const notThrown = ({ code, status, where }, thrown, said) => {
  const throwers = thrown.filter((entry) => entry.code === code);
  if (throwers.length === 0)
    return said.has(code) ? [] : [`${where}: documents ${status} '${code}', which nothing throws`];
  return throwers.some((entry) => entry.status === status || entry.status === undefined)
    ? []
    : [
        `${where}: documents ${status} '${code}', which is thrown as ${throwers.map((entry) => entry.status)}`,
      ];
};

const notDocumented = (thrown, codes) => {
  const missing = thrown.filter(({ code }) => !codes.has(code) && !INTERNAL.has(code));
  return missing.map(({ code, where }) => `${where}: throws '${code}', which no endpoint documents`);
};

/** Finds lists of codes under a status: `404: ['agent_not_found']`, or `add(404, 'agent_not_found')`. */
const documentedIn = (file) => {
  const found = [];
  const add = (status, nodes) => {
    for (const node of nodes) {
      if (!isText(node)) continue;
      found.push({ code: node.value, status, node, where: `${file.path}:${file.lineAt(node.start)}` });
    }
  };
  walk(file.program, (node) => {
    if (node.type === 'Property' && isStatus(node.key)) add(node.key.value, listIn(node.value));
    if (node.type === 'CallExpression' && node.callee.name === 'add' && isStatus(node.arguments[0]))
      add(node.arguments[0].value, node.arguments.slice(1));
  });
  return found;
};

const listIn = (node) => (node.type === 'ArrayExpression' ? node.elements : []);
const isText = (node) => node?.type === 'Literal' && typeof node.value === 'string';
const isStatus = (node) =>
  node?.type === 'Literal' && Number.isInteger(node.value) && node.value >= 400 && node.value < 600;

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
    if (node.type !== 'VariableDeclarator' || node.id.name !== 'STATUS_OF') return;
    for (const { key, value } of node.init.properties) found.set(key.name ?? key.value, value.value);
  });
  return found;
};

/** All string literals of the file except those in API descriptions. */
const textsIn = (file, described) => {
  const found = [];
  walk(file.program, (node) => {
    if (isText(node) && !described.has(node)) found.push(node.value);
  });
  return found;
};
