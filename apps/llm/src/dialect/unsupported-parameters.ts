import type { Operation } from './operation.js';
import { isDisguised, REFUSED_LISTS, REFUSED_MEMBERS } from './billed-members.js';
import { isObject, listOf, memberOf } from './json-value.js';
import { unsupported, type Refusal } from './refusal.js';
import { isBareReference, storedReferenceIn } from './stored-references.js';

/** A JSON object that a program sent. */
export type RequestBody = Readonly<Record<string, unknown>>;

/** Tools that the program runs itself. */
const OWN_TOOLS = {
  openai: /^(?:function|custom|local_shell|apply_patch|computer_use_preview)$/,
  anthropic: /^(?:custom|(?:bash|text_editor|computer|memory)_\d+)$/,
};

/** Why a body may not be sent; undefined if it may. */
export const unsupportedIn = (body: RequestBody, { dialect, name }: Operation): Refusal | undefined => {
  const member =
    REFUSED_MEMBERS.find((one) => memberOf(body, one) !== undefined && !asksForNothing(body, one)) ??
    Object.keys(body).find(isDisguised);
  if (member !== undefined) return unsupported(member);
  if ((memberOf(body, 'speed') ?? 'standard') !== 'standard') return unsupported('Another speed');
  const tool = listOf(body['tools']).find((one) => isHosted(one, OWN_TOOLS[dialect]));
  if (tool !== undefined) return unsupported(`The tool ${JSON.stringify(memberOf(tool, 'type') ?? null)}`);
  if (listOf(body['modalities']).some((one) => one !== 'text')) return unsupported('Output other than text');
  const reference = storedReferenceIn([body['messages'], body['input'], body['system']]);
  if (reference !== undefined) return unsupported(reference);
  if (name === 'responses' && listOf(body['input']).some(isBareReference))
    return unsupported('item_reference');
  return undefined;
};

/** Providers differ in whether an empty list in place of an object is one. */
const asksForNothing = (body: RequestBody, member: string): boolean => {
  const value = body[member];
  return value === false || (REFUSED_LISTS.has(member) && Array.isArray(value) && value.length === 0);
};

/** Without a type it is a tool of the program in both dialects. */
const isHosted = (tool: unknown, own: RegExp): boolean => {
  if (!isObject(tool)) return true;
  const type = memberOf(tool, 'type');
  return type !== undefined && (typeof type !== 'string' || !own.test(type));
};

/** The first value of `anthropic-beta` that the model does not allow. */
export const refusedBeta = (header: string | undefined, allowed: readonly string[]): string | undefined =>
  (header ?? '')
    .split(',')
    .map((value) => value.trim())
    .find((value) => value !== '' && !allowed.includes(value));
