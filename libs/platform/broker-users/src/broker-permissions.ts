/**
 * How a service uses the broker, in logical subjects. `{host}` stands for the id of the runtime host that receives,
 * `{from}` for that of the one that sends.
 */
export interface ServiceAccess {
  /** Requests it handles. */
  readonly handles: readonly string[];
  /** Requests it sends. */
  readonly calls: readonly string[];
  /** Contexts whose events it publishes. */
  readonly publishes: readonly string[];
  /** Events it consumes. */
  readonly consumes: readonly { readonly context: string; readonly durable: string }[];
  /**
   * How it uses the claim on the installation's name: services with the event log take it, others may read its holder.
   */
  readonly claim: 'takes' | 'reads' | 'none';
  /** Whether it has tables, about which its processes exchange notices. */
  readonly tables: boolean;
}

/** What a NATS user may publish and subscribe to; everything else is denied. */
export interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

export interface BrokerUser {
  readonly user: string;
  readonly password: string;
  /** undefined: no restrictions. */
  readonly permissions?: Permissions | undefined;
}

/**
 * The permissions of one service. A reply goes to `_INBOX.<instance>.<caller>.<connection>.<responder>.<request>`: only
 * the caller may subscribe there, and only the responder may publish. Response permissions (`allow_responses`) would
 * have the same effect, but the server searches all open ones for each message that it delivers.
 */
export function permissionsOf(
  service: string,
  access: ServiceAccess,
  where: { readonly instance: string; readonly hosts: readonly string[] },
): Permissions {
  const subject = (logical: string): string => `${where.instance}.${logical}`;
  const stream = (kind: string, context: string): string =>
    `${where.instance}_${kind}_${context.replaceAll('-', '_').toUpperCase()}`;
  const isHost = access.handles.some((handled) => handled.includes('{host}'));
  const onHost = where.hosts.map((host) => `${service}-${host}`);
  // Callers respond too: a handler asks them whether they still wait.
  const responders = isHost ? [service, ...onHost] : [service];
  const inboxes = isHost ? onHost : [service];
  const notices = access.tables ? [`notice.${service}.>`, 'notice.postgres.>'].map(subject) : [];
  const publish = [
    '$JS.API.INFO',
    ...access.calls.flatMap((called) => senders(called, where.hosts)).map(subject),
    ...responders.map((responder) => `_INBOX.${where.instance}.*.*.${responder}.>`),
    ...(access.claim === 'takes' ? claim(`${where.instance}_PRESENCE`, subject('presence.>')) : []),
    ...(access.claim === 'reads' ? streamApi(`${where.instance}_PRESENCE`, 'MSG.GET') : []),
    ...access.publishes.flatMap((context) => relay(stream('EVT', context), subject(`evt.${context}.>`))),
    ...access.consumes.flatMap(({ context, durable }) => [
      ...consumption(stream('EVT', context), durable),
      ...deadLetters(stream('DLQ', context), subject(`dlq.${context}.${durable}.>`)),
    ]),
    ...notices,
  ];
  const subscribe = [
    ...inboxes.map((inbox) => `_INBOX.${where.instance}.${inbox}.>`),
    ...access.handles.flatMap((handled) => onHosts(handled, where.hosts)).map(subject),
    ...notices,
  ];
  return { publish: distinct(publish), subscribe: distinct(subscribe) };
}

/** One filter for all requests of a kind that a host receives. */
const onHosts = (handled: string, hosts: readonly string[]): readonly string[] => {
  if (!handled.includes('{host}')) return [handled.replace('{from}', '*')];
  const [kind, context] = handled.split('.');
  return hosts.map((host) => `${String(kind)}.${String(context)}.*.*.${host}`);
};

/** A host reports only in its own name. */
const senders = (called: string, hosts: readonly string[]): readonly string[] =>
  called.includes('{from}')
    ? hosts.map((host) => called.replace('{from}', host))
    : [called.replace('{host}', '*')];

const streamApi = (stream: string, ...operations: readonly string[]): readonly string[] =>
  operations.map((operation) => `$JS.API.STREAM.${operation}.${stream}`);

const claim = (stream: string, subjects: string): readonly string[] => [
  subjects,
  ...streamApi(stream, 'INFO', 'CREATE', 'UPDATE', 'PURGE', 'MSG.GET'),
];

const relay = (stream: string, subjects: string): readonly string[] => [
  subjects,
  ...streamApi(stream, 'INFO', 'CREATE', 'UPDATE', 'PURGE', 'MSG.GET'),
  `$JS.API.CONSUMER.LIST.${stream}`,
  `$JS.API.CONSUMER.INFO.${stream}.*`,
  `$JS.API.CONSUMER.DELETE.${stream}.*`,
];

const consumption = (stream: string, durable: string): readonly string[] => [
  ...streamApi(stream, 'INFO', 'MSG.GET'),
  `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
  `$JS.API.CONSUMER.CREATE.${stream}.${durable}.>`,
  `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${durable}`,
  `$JS.API.CONSUMER.DELETE.${stream}.${durable}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
  `$JS.ACK.${stream}.${durable}.>`,
];

const deadLetters = (stream: string, subjects: string): readonly string[] => [
  subjects,
  ...streamApi(stream, 'INFO', 'CREATE', 'UPDATE', 'PURGE', 'MSG.GET', 'MSG.DELETE'),
];

const distinct = (subjects: readonly string[]): readonly string[] => [...new Set(subjects)];

/** The variable with the password of a service's user: `NATS_PASSWORD_END_USERS` for `end-users`. */
export const passwordVariableOf = (service: string): string =>
  `NATS_PASSWORD_${service.replaceAll('-', '_').toUpperCase()}`;

/**
 * The `authorization` block of a nats-server configuration. A password or subject that begins with `$NATS_` is a
 * variable of the server's environment.
 */
export function authorizationBlock(users: readonly BrokerUser[]): string {
  return ['authorization {', '  users = [', userBlocks(users), '  ]', '}'].join('\n');
}

/** The elements of `users` in that block, separated by commas. */
export function userBlocks(users: readonly BrokerUser[]): string {
  return users.map(userBlock).join(',\n');
}

const userBlock = ({ user, password, permissions }: BrokerUser): string =>
  [
    '    {',
    `      user: ${quoted(user)}`,
    `      password: ${quoted(password)}`,
    ...(permissions === undefined
      ? []
      : [
          '      permissions {',
          ...allowList('publish', permissions.publish),
          ...allowList('subscribe', permissions.subscribe),
          '      }',
        ]),
    '    }',
  ].join('\n');

const allowList = (kind: string, subjects: readonly string[]): readonly string[] => [
  `        ${kind} {`,
  '          allow = [',
  ...subjects.map((subject) => `            ${quoted(subject)},`),
  '          ]',
  '        }',
];

const quoted = (text: string): string => (text.startsWith('$NATS_') ? text : JSON.stringify(text));
