/** Names by which providers limit the output. Each heeds some of them, and some heed one above another. */
export const LIMIT_MEMBERS: readonly string[] = [
  'max_completion_tokens',
  'max_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_tokens_to_sample',
  'max_length',
  'n_predict',
  'num_predict',
];

/** By each of these, one provider or another multiplies the output. */
export const CHOICE_MEMBERS: readonly string[] = [
  'n',
  'best_of',
  'n_cmpl',
  'num_return_sequences',
  'candidate_count',
];

/** Lists of the kind of `REFUSED_MEMBERS`, which may be empty. */
export const REFUSED_LISTS: ReadonlySet<string> = new Set([
  'mcp_servers',
  // Searches of providers, which they bill by themselves.
  'plugins',
  'data_sources',
  // Other models than the operator's file has rates for.
  'models',
  'fallbacks',
]);

/** Members that would spend unmetered or beyond the reserve, or reach the data of others, unless they are null or false. */
export const REFUSED_MEMBERS: readonly string[] = [
  ...REFUSED_LISTS,
  'background',
  'previous_response_id',
  'conversation',
  'prompt',
  'container',
  'web_search_options',
  'audio',
  'inference_geo',
  // Billed as output in addition to the limit.
  'prediction',
  // Searches of providers, which they bill by themselves.
  'search_parameters',
  'enable_search',
  // Other providers than the operator's file has rates for.
  'provider',
  'preset',
  // May hold any of the above for the provider behind a provider.
  'extra_body',
];

/** The members by which is decided what is sent and what it costs. */
const DECISIVE: ReadonlySet<string> = new Set([
  ...CHOICE_MEMBERS,
  ...REFUSED_MEMBERS,
  'input',
  'messages',
  'modalities',
  'model',
  'service_tier',
  'speed',
  'store',
  'stream',
  'stream_options',
  'system',
  'tools',
]);

/** A name as providers read it that ignore case, as Go's decoder of JSON does: U+017F is an `s`, U+212A a `k`. */
export const folded = (name: string): string => name.toUpperCase().toLowerCase();

/** Whether some providers would read it as a member that we read, although it is another. */
export const isDisguised = (name: string): boolean => {
  const read = folded(name);
  return read !== name && DECISIVE.has(read);
};
