/** A public event of a context: the contract between its publisher and its consumers. */
export interface EventDefinition<Payload = unknown, Context extends string = string> {
  readonly context: Context;
  /** Past tense, such as `fell-asleep`. */
  readonly name: string;
  readonly version: number;
  /** Whether a payload has the shape of this event. It may have more members: publishers add members first. */
  readonly accepts: (payload: unknown) => payload is Payload;
}

/** The payload type of an event definition. */
export type PayloadOf<Definition> = Definition extends EventDefinition<infer Payload> ? Payload : never;

/** An event in the form in which it is published. */
export interface ContractEvent<Payload = unknown> {
  /** `evt.<context>.<name>.v<version>.<account>.<subject id>` */
  readonly subject: string;
  readonly payload: Payload;
}

/** Returns the public form of an event about `subjectId`, a resource of `accountId`. */
export const contractEvent = <Payload extends object>(
  { context, name, version }: EventDefinition<Payload>,
  { accountId, subjectId }: { readonly accountId: string; readonly subjectId: string },
  payload: Payload,
): ContractEvent<Payload> => ({
  subject: `evt.${context}.${name}.v${version}.${accountId}.${subjectId}`,
  payload,
});

/** The filter that matches every subject of an event. */
export const subjectsOf = ({ context, name, version }: EventDefinition): string =>
  `evt.${context}.${name}.v${version}.>`;
