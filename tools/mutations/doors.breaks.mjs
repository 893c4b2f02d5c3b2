const WEBHOOK = 'apps/delivery/src/webhook/webhook-delivery.decider.ts';
const WEBHOOK_SPEC = 'apps/delivery/src/webhook/webhook-delivery.spec.ts';
const TOKEN_SPEC = 'apps/delivery/src/webhook-token/webhook-tokens.int-spec.ts';
const AUTHORIZE = 'apps/delivery/src/webhook-token/authorize-webhook.query.ts';
const SCHEDULE = 'apps/schedules/src/schedule/schedule.decider.ts';
const SCHEDULE_SPEC = 'apps/schedules/src/schedule/schedule.spec.ts';
const CRON = 'apps/schedules/src/cron/cron-times.ts';
const CRON_SPEC = 'apps/schedules/src/cron/cron-times.spec.ts';

/** Chats, webhooks and schedules. */
export const DOORS = [
  {
    guarantee: 'A chat keeps its answer, or its first failure.',
    file: 'apps/delivery/src/delivery/delivery.decider.ts',
    find: "if (delivery.status === 'failed' && !saysMore(command.code, delivery.code)) return [];",
    replace: "if (delivery.status === 'failed' && saysMore(command.code, delivery.code)) return [];",
    test: 'apps/delivery/src/delivery/delivery.decider.spec.ts',
    title: 'keeps its answer, or its first failure',
  },
  {
    guarantee: 'Messages of all kinds share one budget, and one beyond it is 429.',
    file: 'apps/delivery/src/delivery/message-budget.ts',
    find: 'if (rows[0]?.granted === true) return;',
    replace: 'if (rows[0]?.granted !== undefined) return;',
    test: 'apps/delivery/src/delivery/message-budget.int-spec.ts',
    title: 'refuses a chat beyond it before the agent is woken',
  },
  {
    guarantee: 'A webhook has five attempts, after pauses of 1, 4, 16 and 64 s.',
    file: WEBHOOK,
    find: '[1_000, 4_000, 16_000, 64_000];',
    replace: '[1_000, 4_000, 16_000];',
    test: WEBHOOK_SPEC,
    title: 'is tried again after 1, 4, 16 and 64 s, and has failed after the fifth attempt',
  },
  {
    guarantee: 'A webhook delivery ends once.',
    file: WEBHOOK,
    find: "if (delivery.status !== 'queued') return [];",
    replace:
      "if (delivery.status === 'absent') return [];\n  if (delivery.status !== 'queued') return [{ type: 'WebhookDelivered', data: { deliveryId: '', agentId: '', at: command.at, attempts: 1 } }];",
    test: WEBHOOK_SPEC,
    title: 'ends once: nothing follows $type',
  },
  {
    guarantee: 'An invoke with a wrong token is 401.',
    file: AUTHORIZE,
    find: 'given.length === expected.length && timingSafeEqual(given, expected);',
    replace: 'given.length === expected.length || timingSafeEqual(given, expected);',
    test: TOKEN_SPEC,
    title: 'is refused once too many wrong ones were sent, but the right one never is',
  },
  {
    guarantee: 'Wrong tokens share a count of their own, which slows no valid caller.',
    file: AUTHORIZE,
    find: 'await this.rate.take(agentId, WRONG_TOKENS);',
    replace: 'await this.rate.take(agentId, `${WRONG_TOKENS}${tokenHash}`);',
    test: TOKEN_SPEC,
    title: 'is refused once too many wrong ones were sent, but the right one never is',
  },
  {
    guarantee: 'An invoke without a token is refused where the operator requires one.',
    file: AUTHORIZE,
    find: "if (tokenRequired) throw refused('Send the token of the webhook in X-Service-Webhook-Token.');",
    replace: "if (tokenRequired && suspended) throw refused('Send the token of the webhook.');",
    test: TOKEN_SPEC,
    title: 'may be missing unless it is required',
  },
  {
    guarantee: 'The webhook token of another account’s agent is the same 404 as of none.',
    file: 'apps/delivery/src/webhook-token/webhook-token.command-handler.ts',
    find: 'if (addressee.accountId !== accountId)',
    replace: "if (addressee.accountId !== accountId && accountId === '')",
    test: TOKEN_SPEC,
    title: 'of an agent that is unknown, or of another account, is not_found',
  },
  {
    guarantee: 'After a rotate has returned, the old token is refused.',
    file: 'apps/delivery/src/webhook-token/webhook-token-vault.ts',
    find: 'WHERE known.revision < excluded.revision`,',
    replace: 'WHERE known.revision > excluded.revision`,',
    test: TOKEN_SPEC,
    title: 'ends with its rotation: none of the calls that begin after that is authorized with it',
  },
  {
    guarantee: 'Deliveries of one agent are handed over in the order of acceptance, one at a time.',
    file: 'apps/delivery/src/webhook/webhook-vault.ts',
    find: 'WHERE agent_id = $1 AND ended_at IS NULL ORDER BY seq LIMIT 1`;',
    replace: 'WHERE agent_id = $1 AND ended_at IS NULL ORDER BY seq DESC LIMIT 1`;',
    test: 'apps/delivery/src/webhook/webhooks.int-spec.ts',
    title: 'waits for its turn: one at a time, in the order of acceptance',
  },
  {
    guarantee: 'A webhook that an agent cannot take for 24 h has failed.',
    file: 'apps/delivery/src/webhook/webhook-hold.ts',
    find: 'const HOUR_MS = 3_600_000;',
    replace: 'const HOUR_MS = 7_200_000;',
    test: 'apps/delivery/src/webhook/webhook-bounds.int-spec.ts',
    title: 'has failed if its agent still cannot take it, and the next one waits on',
  },
  {
    guarantee: 'At most 1,000 deliveries are queued for an agent.',
    file: 'libs/contracts/src/delivery/webhooks.schemas.ts',
    find: 'queuedDeliveries: 1_000,',
    replace: 'queuedDeliveries: 1_001,',
    test: 'apps/delivery/src/webhook/webhook-bounds.int-spec.ts',
    title: 'holds exactly 1,000 deliveries, also if many arrive at once, and takes more once one has ended',
  },
  {
    guarantee: 'One nextRunAt fires once ever.',
    file: SCHEDULE,
    find: 'const isRunAt = runAt !== null && !hasFired;',
    replace: 'const isRunAt = runAt !== null && (!hasFired || runAt > 0);',
    test: SCHEDULE_SPEC,
    title:
      'never fires again although its list was cleared in between, nor if only the projection remembers it',
  },
  {
    guarantee: 'An entry fires at most once a minute.',
    file: SCHEDULE,
    find: 'due === null || last === null ? due : Math.max(due, last + MINUTE_MS);',
    replace: 'due === null || last === null ? due : Math.max(due, last + MINUTE_MS - 30_000);',
    test: SCHEDULE_SPEC,
    title: 'fires at most once a minute: what falls closer is moved to the end of that minute',
  },
  {
    guarantee: 'A time that was missed while Berth was down fires once on return.',
    file: SCHEDULE,
    find: 'const entryNextWakeAt = timeOf(notWithinMinute(cronAfter(entry, now), dueAt));',
    replace: 'const entryNextWakeAt = timeOf(notWithinMinute(cronAfter(entry, dueAt), dueAt));',
    test: SCHEDULE_SPEC,
    title: 'fires once for all the times that were missed',
  },
  {
    guarantee: 'A polled list that equals the last polled one replaces nothing.',
    file: SCHEDULE,
    find: "if (source === 'polled' && isLastPolled(command, schedules)) return [];",
    replace: "if (source === 'polled' && isLastPolled(command, schedules) && now < 0) return [];",
    test: SCHEDULE_SPEC,
    title: 'that is polled unchanged replaces nothing, not even a list that was pushed since',
  },
  {
    guarantee: 'A list that is published again at the last moment keeps the time that is due.',
    file: SCHEDULE,
    find: 'if (before !== undefined && isSameTime(before, entry))',
    replace: 'if (before !== undefined && isSameTime(before, entry) && now < 0)',
    test: SCHEDULE_SPEC,
    title:
      'keeps the time that is due when the same list, or one with another prompt, is published at the last moment',
  },
  {
    guarantee: 'A wall-clock time that is repeated fires the first time only.',
    file: CRON,
    find: 'const found = this.zone.firstInstantOf(local);',
    replace: 'const found = this.zone.instantsOf(local).at(-1) ?? this.zone.firstInstantOf(local);',
    test: CRON_SPEC,
    title: 'a fixed hour fires the first time only',
  },
  {
    guarantee: 'An hour field that begins with * follows elapsed time.',
    file: CRON,
    find: "return new CronTimes(cron, zone, fields[1]?.startsWith('*') === true);",
    replace: "return new CronTimes(cron, zone, fields[1] === '');",
    test: CRON_SPEC,
    title: 'an hour field that begins with * follows elapsed time',
  },
  {
    guarantee: 'A cron expression that never fires is refused.',
    file: CRON,
    find: "if (first === null || first.getTime() - now > MAX_LOOK_AHEAD_MS) return { problem: 'never fires' };",
    replace:
      "if (first !== null && first.getTime() - now > MAX_LOOK_AHEAD_MS) return { problem: 'never fires' };",
    test: CRON_SPEC,
    title: 'is refused: %j',
  },
  {
    guarantee: 'The id of a delivery of a firing derives from agent, entry and time.',
    file: 'apps/schedules/src/fire/delivery-id.ts',
    find: 'JSON.stringify([agentId, entryId, dueAt])',
    replace: 'JSON.stringify([agentId, entryId, dueAt, Math.random()])',
    test: 'apps/schedules/src/fire/delivery-id.spec.ts',
    title: 'the id of a delivery is the same for the same agent, entry and time, and for no others',
  },
  {
    guarantee: 'The message of a webhook is the text "message" of a JSON object.',
    file: 'apps/gateway/src/webhooks/webhook-message.ts',
    find: "Object.hasOwn(value, 'message') && typeof value.message === 'string' ? value.message : undefined;",
    replace: "Object.hasOwn(value, 'text') && typeof value.message === 'string' ? value.message : undefined;",
    test: 'apps/gateway/src/webhooks/webhook-message.spec.ts',
    title: 'is the text "message" of a JSON object',
  },
];
