const LEDGER = 'apps/llm/src/account-ledger/account-ledger.decider.ts';
const LEDGER_SPEC = 'apps/llm/src/account-ledger/account-ledger.spec.ts';
const CAP = 'apps/llm/src/end-user-ledger/end-user-ledger.decider.ts';
const CAP_SPEC = 'apps/llm/src/end-user-ledger/end-user-ledger.spec.ts';
const PRICE = 'apps/llm/src/ledger/token-price.ts';
const PRICE_SPEC = 'apps/llm/src/ledger/token-price.spec.ts';
const BOUNDS = 'apps/llm/src/dialect/call-bounds.ts';
const BOUNDS_SPEC = 'apps/llm/src/dialect/call-bounds.spec.ts';
const UNSUPPORTED = 'apps/llm/src/dialect/unsupported-parameters.ts';
const UNSUPPORTED_SPEC = 'apps/llm/src/dialect/unsupported-parameters.spec.ts';

/** The metered route to models. */
export const LLM = [
  {
    guarantee: 'A call is sent only if the most that it can cost fits into the credits.',
    file: LEDGER,
    find: 'const left = credits === null ? null : load(credits) - load(reserved);',
    replace: 'const left = credits === null || reserved === "" ? null : load(credits);',
    test: LEDGER_SPEC,
    title: 'is made if the most it can cost fits into the remaining credits, to the last millionth',
  },
  {
    guarantee: 'At or below 0 credits every call is refused, also of a free model.',
    file: LEDGER,
    find: 'credits !== null && load(credits) <= 0n ? undefined',
    replace: 'credits !== null && load(credits) < 0n ? undefined',
    test: LEDGER_SPEC,
    title: 'is refused without credits, also of a model that costs nothing, unless none are counted',
  },
  {
    guarantee: 'An agent has at most 64 calls in flight.',
    file: LEDGER,
    find: 'Object.values(open).filter(({ agentId }) => agentId === call.agentId).length;',
    replace: "Object.values(open).filter(({ agentId }) => agentId === '').length;",
    test: LEDGER_SPEC,
    title: 'is refused to an agent with ${String(MOST_IN_FLIGHT)} calls in flight, and only to it',
  },
  {
    guarantee: 'A call of unknown cost settles at what was reserved, marked as estimated.',
    file: LEDGER,
    find: 'cost: cost === null ? reserved : store(cost),',
    replace: "cost: cost === null ? '0' : store(cost),",
    test: LEDGER_SPEC,
    title: 'of unknown cost takes what was reserved',
  },
  {
    guarantee: 'A call is settled once.',
    file: LEDGER,
    find: 'balance: state.balance === null ? null : plus(state.balance, -cost),',
    replace: 'balance: state.balance === null ? null : plus(state.balance, -cost - cost),',
    test: LEDGER_SPEC,
    title: 'takes its cost from the balance and releases the reservation, once',
  },
  {
    guarantee: 'A spend cap counts what is settled and what is reserved.',
    file: CAP,
    find: 'cap === null ? null : cap - load(state.settled) - load(state.reserved);',
    replace: 'cap === null ? null : cap - load(state.settled);',
    test: CAP_SPEC,
    title: 'counts what is settled and what is reserved, to the last millionth',
  },
  {
    guarantee: 'A threshold of the spend cap is recorded once in a month.',
    file: CAP,
    find: 'percent > threshold && percent <= reached',
    replace: 'percent >= threshold && percent <= reached',
    test: CAP_SPEC,
    title: 'are reached by what is settled, each once in a month',
  },
  {
    guarantee: "A call's cost is the sum of its parts, rounded up once.",
    file: PRICE,
    find: 'return divideUp(parts, MILLION);',
    replace: 'return divideDown(parts, MILLION);',
    test: PRICE_SPEC,
    title: 'is the sum of its parts, rounded up once',
  },
  {
    guarantee: 'Input is reserved at its dearest rate.',
    file: PRICE,
    find: 'larger(larger(input, cachedInput), cacheWrite);',
    replace: 'larger(input, cachedInput === cacheWrite ? cachedInput : input);',
    test: PRICE_SPEC,
    title: 'has all input at the dearest rate: %s',
  },
  {
    guarantee: 'The bound of the input is never more than the context of the model.',
    file: BOUNDS,
    find: 'return Math.min(bytes + OVERHEAD_TOKENS, contextTokens);',
    replace: 'return Math.max(bytes + OVERHEAD_TOKENS, Math.min(0, contextTokens));',
    test: BOUNDS_SPEC,
    title: 'is never more than the context of the model, to the last token',
  },
  {
    guarantee: 'The bound of the input is the context of the model if anything is given by URL.',
    file: BOUNDS,
    find: "if (hasUrl([body['messages'], body['input'], body['system']])) return contextTokens;",
    replace: "if (hasUrl([body['messages']])) return contextTokens;",
    test: BOUNDS_SPEC,
    title: 'is the context of the model if %s is given by URL',
  },
  {
    guarantee: 'Of two limits of the output the larger is reserved.',
    file: BOUNDS,
    find: '? { tokens: Math.max(...limits), members, isCallers: true }',
    replace: '? { tokens: Math.min(...limits), members, isCallers: true }',
    test: BOUNDS_SPEC,
    title: 'is the larger of those that the caller set: $1',
  },
  {
    guarantee: 'A hosted tool is refused.',
    file: UNSUPPORTED,
    find: "return type !== undefined && (typeof type !== 'string' || !own.test(type));",
    replace: "return type !== undefined && typeof type !== 'string' && !own.test('');",
    test: UNSUPPORTED_SPEC,
    title: 'for a hosted tool of the OpenAI dialect: %j',
  },
  {
    guarantee: 'A stored reference is refused.',
    file: UNSUPPORTED,
    find: 'if (reference !== undefined) return unsupported(reference);',
    replace: "if (reference === '') return unsupported(reference);",
    test: UNSUPPORTED_SPEC,
    title: 'for a reference to what is stored: $1 in $2',
  },
  {
    guarantee: 'Nothing is stored at a provider.',
    file: 'apps/llm/src/dialect/upstream-body.ts',
    find: "name === 'responses' || memberOf(body, 'store') !== undefined ? { store: false } : {};",
    replace: "name !== 'responses' && memberOf(body, 'store') !== undefined ? { store: false } : {};",
    test: 'apps/llm/src/dialect/upstream-body.spec.ts',
    title: 'stores nothing: `store` becomes false, on responses even unasked',
  },
  {
    guarantee: 'No credential, cookie or organisation of a caller reaches a provider.',
    file: 'apps/llm/src/dialect/passed-headers.ts',
    find: '...pick(headers, (name) => TO_UPSTREAM.some((passed) => passed === name)),',
    replace:
      "...pick(headers, (name) => TO_UPSTREAM.some((passed) => passed === name) || name.startsWith('openai-')),",
    test: 'apps/llm/src/dialect/passed-headers.spec.ts',
    title: 'never are credentials, cookies, organisations, addresses or anything else',
  },
  {
    guarantee: 'The chunk with the usage is kept from a caller who did not ask for it.',
    file: 'apps/llm/src/usage/stream-usage.ts',
    find: "return isObject(memberOf(event, 'usage')) && listOf(memberOf(event, 'choices')).length === 0;",
    replace: "return isObject(memberOf(event, 'usage')) && listOf(memberOf(event, 'choices')).length > 0;",
    test: 'apps/llm/src/usage/stream-usage.spec.ts',
    title: 'is the one with usage and without choices, and no other',
  },
  {
    guarantee: 'Cached and cache-written tokens of the Anthropic dialect count as input.',
    file: 'apps/llm/src/usage/reported-usage.ts',
    find: 'input: plain + cachedInput + cacheWrite,',
    replace: 'input: plain + cachedInput,',
    test: 'apps/llm/src/usage/reported-usage.spec.ts',
    title: 'of messages counts cached and cache-written tokens as input, which the upstream leaves out',
  },
  {
    guarantee: 'A response is read on for 600 s after its caller has hung up.',
    file: 'apps/llm/src/route/call-timing.ts',
    find: 'readonly readOnMs: number = 600_000;',
    replace: 'readonly readOnMs: number = 60_000;',
    test: 'apps/llm/src/route/call-timing.spec.ts',
    title: 'the time limits are 900 s of silence, and 600 s after a caller has hung up',
  },
  {
    guarantee: '100 parallel calls at a cap never pass it.',
    file: 'apps/llm/src/ledger/call-demand.ts',
    find: 'if (left === null || whole.amount <= left) return whole;',
    replace: 'if (left === null || whole.amount <= left * 9n) return whole;',
    test: 'apps/llm/src/llm.int-spec.ts',
    title: 'is not passed by 100 parallel calls to a slow upstream',
  },
  {
    guarantee: 'A refusal has the shape of its dialect.',
    file: 'apps/llm/src/dialect/refusal.ts',
    find: '? { error: { message, type, code, param: null } }',
    replace: '? { error: { message, type, code } }',
    test: 'apps/llm/src/dialect/refusal.spec.ts',
    title: 'has its status, type and code in the shape of both dialects: $1 $2 $3',
  },
];
