import type { DeliverMessage } from '@berth/contracts-runtime';
import { receiptsOf, type Case, type Facts, type Told } from './chat-case.fixture.js';
import { responseTo } from './chat-world.fixture.js';

/** What stands in the log of one delivery. */
export type History = readonly { readonly type: string; readonly data: Readonly<Record<string, unknown>> }[];

/** What is known of the agent once everything has come to rest. */
export interface Evidence {
  readonly received: readonly DeliverMessage[];
  readonly histories: ReadonlyMap<string, History>;
  readonly counted: number;
}

/** Every promise that was broken, in words. */
export const judge = ({ cases }: Facts, evidence: Evidence): readonly string[] => {
  const { received, counted } = evidence;
  const order = received.map(({ message }) => message);
  return [
    ...cases.flatMap((one) => judgeCase(one, evidence)),
    ...(counted > cases.length ? [`The budget counted ${String(counted)} of ${String(cases.length)}.`] : []),
    ...(order.join() === order.toSorted().join() ? [] : [`They arrived out of order: ${order.join()}.`]),
  ];
};

const judgeCase = (one: Case, { received, histories }: Evidence): readonly string[] => {
  const receipts = receiptsOf(received, one.text);
  const history = histories.get(one.deliveryId) ?? [];
  return [
    ...(receipts.length > 1 ? [`TWICE: ${one.text} was handed over ${String(receipts.length)} times.`] : []),
    ...(receipts.length === one.receivedThen
      ? []
      : [`LATE: ${one.text} was handed over after its last try.`]),
    ...one.tries.flatMap(({ told }) => judgeTold(one, told, receipts)),
    ...judgeSilence(one, receipts),
    ...judgeHistory(one, receipts, history),
  ];
};

const judgeTold = (
  { text, message }: Case,
  told: Told,
  receipts: readonly DeliverMessage[],
): readonly string[] => {
  const [receipt] = receipts;
  if (told.kind === 'answered') {
    const { response, conversationId } = told.reply;
    const real = message.program === 'answers' || message.program === 'answers-slowly';
    return real && response === responseTo(text) && receipt?.conversationId === conversationId
      ? []
      : [`${text} was answered ${JSON.stringify(told.reply)}, and that is not what happened.`];
  }
  if (told.kind === 'failed')
    return message.program === 'fails' && receipt !== undefined
      ? []
      : [`${text} was said to have been failed by its agent.`];
  return [];
};

/** What the last word is that nothing is done, nothing is done: the caller is free to send another command. */
const judgeSilence = ({ text, tries }: Case, receipts: readonly DeliverMessage[]): readonly string[] => {
  const last = tries.at(-1)?.told;
  const isDenied = last?.kind === 'not-done' && tries.every(({ told }) => told.kind !== 'answered');
  return isDenied && receipts.length > 0
    ? [`A LIE: of ${text} it was said at last that nothing is done (${last.code}), and it was handed over.`]
    : [];
};

const judgeHistory = (
  { text, message }: Case,
  receipts: readonly DeliverMessage[],
  history: History,
): readonly string[] => {
  const types = history.map(({ type }) => type);
  const last = history.at(-1);
  if (receipts.length === 0) {
    const ended = last === undefined || last.type === 'MessageRefused' || last.type === 'MessageFailed';
    return ended ? [] : [`The log has ${text} as ${types.join()}, and it was never handed over.`];
  }
  if (types[0] !== 'MessageAccepted')
    return [`The log has ${text} as ${types.join()}, and it was handed over.`];
  const expected = EXPECTED[message.program](text);
  const isSame = expected.value === undefined || last?.data[expected.field] === expected.value;
  return last?.type === expected.type && isSame
    ? []
    : [
        `The log has ${text} as ${types.join()}, at last ${JSON.stringify(last?.data)}; its program ${message.program}.`,
      ];
};

interface Expected {
  readonly type: string;
  readonly field: string;
  readonly value: unknown;
}

const answered = (text: string): Expected => ({
  type: 'MessageAnswered',
  field: 'responseLength',
  value: responseTo(text).length,
});
/** `code` undefined: any. */
const failed = (code?: string) => (): Expected => ({ type: 'MessageFailed', field: 'code', value: code });

const EXPECTED: Readonly<Record<Case['message']['program'], (text: string) => Expected>> = {
  answers: answered,
  'answers-slowly': answered,
  fails: failed('agent_error'),
  dies: failed(),
};
