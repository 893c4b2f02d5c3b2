const COMPUTERS = 'apps/gateway/src/computers';
const BATCHES = `${COMPUTERS}/action-batches.ts`;
const ACTIONS_SPEC = `${COMPUTERS}/actions.int-spec.ts`;
const VIEWER = `${COMPUTERS}/viewer`;
const VIEWER_SPEC = `${VIEWER}/viewer.int-spec.ts`;

/** How the gateway has computers used and watched. */
export const COMPUTERS_GATEWAY = [
  {
    guarantee: 'Actions that may have been done are not sent again.',
    file: BATCHES,
    find: "reject(isConnected ? outcomeUnknown(error) : new TicketLost('not_connected', { cause: error }));",
    replace: "reject(new TicketLost('not_connected', { cause: error, ...{ isConnected } }));",
    test: ACTIONS_SPEC,
    title: 'when the host is lost %s, and not sent again',
  },
  {
    guarantee: 'An Idempotency-Key whose actions may have been done does not do them again.',
    file: `${COMPUTERS}/computer-actions.controller.ts`,
    find: 'if (request.claim?.repeated === true) throw outcomeUnknown();',
    replace:
      'if (request.claim?.commandId === undefined && request.claim?.repeated === true) throw outcomeUnknown();',
    test: ACTIONS_SPEC,
    title: 'when the host is lost %s, and not sent again',
  },
  {
    guarantee: 'A body that is read with its resource is validated before its Idempotency-Key is claimed.',
    file: 'apps/gateway/src/validation/validate.hook.ts',
    find: '(error: Error) => done(error),',
    replace: '(_error: Error) => done(),',
    test: ACTIONS_SPEC,
    title: 'that are invalid are 400 also under an Idempotency-Key that another body has used',
  },
  {
    guarantee: 'Every image of a batch is counted.',
    file: BATCHES,
    find: '(closing === null ? 0 : 1);',
    replace: '(closing === null ? 0 : 0);',
    test: ACTIONS_SPEC,
    title: 'counts the results and every image',
  },
  {
    guarantee: 'Pages of other origins open no socket of a viewer.',
    file: `${VIEWER}/viewer.hook.ts`,
    find: 'if (origin !== undefined && !this.origin.isOwn(origin, host))',
    replace: "if (origin === 'null' && !this.origin.isOwn(origin, host))",
    test: VIEWER_SPEC,
    title: 'is 403 for a page of another origin, and for one whose key is revoked',
  },
  {
    guarantee: 'A viewer whose key is revoked opens no socket, and shows no page.',
    file: `${VIEWER}/viewer-sessions.ts`,
    find: 'await this.authenticators.authenticateKeyId(found.keyId, LOOKUP_WITHIN_MS);',
    replace: 'await Promise.resolve([this.authenticators, found.keyId]);',
    test: VIEWER_SPEC,
    title: 'is 404 once the key that opened the session is revoked',
  },
  {
    guarantee: 'The socket of a viewer closes when its key is revoked.',
    file: `${VIEWER}/viewer-sockets.ts`,
    find: 'refused.then((reason) => (reason === undefined ? undefined : CREDENTIAL_ENDED)),',
    replace: 'refused.then((reason) => (reason === undefined ? CREDENTIAL_ENDED : undefined)),',
    test: VIEWER_SPEC,
    title: 'closes with 1000 at the end of the session, and with 1008 within 5 s of a revocation of the key',
  },
  {
    guarantee: 'The secret of a viewer is in no log.',
    file: `${VIEWER}/viewer.hook.ts`,
    find: 'if (this.server.received(request.raw)) request.appLabel = VIEWER_LABEL;',
    replace:
      'if (this.server.received(request.raw)) Object.assign(request, { appLabel: undefined, is404: true });',
    test: VIEWER_SPEC,
    title: 'leaves no trace of its secret in the log',
  },
  {
    guarantee: 'Only pages of the API embed a viewer.',
    file: `${VIEWER}/viewer.hook.ts`,
    find: "`frame-ancestors ${this.origin.embedders.join(' ')}`,",
    replace: "`frame-ancestors * ${this.origin.embedders.join(' ')}`,",
    test: VIEWER_SPEC,
    title: 'may be embedded by pages of the API alone',
  },
  {
    guarantee: 'A viewer that is not to control sends no keys.',
    file: 'apps/gateway/assets/viewer/viewer.js',
    find: "rfb.viewOnly = session.mode === 'view';",
    replace: "rfb.viewOnly = session.mode === 'none';",
    test: `${VIEWER}/viewer-page.int-spec.ts`,
    title: 'sends keys in control, and none in view',
  },
  {
    guarantee: 'What was made with a key ends with the key.',
    file: 'apps/accounts/src/authenticate/authenticate.query.ts',
    find: "const BY_ID = findValidKey('secret.key_id = $1');",
    replace: "const BY_ID = findValidKey('secret.key_id = $1 OR secret.key_id = $1');",
    test: 'apps/accounts/src/accounts.int-spec.ts',
    title: 'accepts the id of a key as long as the key',
  },
];
