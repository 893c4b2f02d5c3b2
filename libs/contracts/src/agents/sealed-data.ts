/** What the sealed identity (name, external ids, …) in the events of an agent is about, for `fromPersonal`. */
export const aboutIdentity = (agentId: string): string => `agent/${agentId}`;

/** As `aboutIdentity`, for the name of a variable. */
export const aboutVariable = (agentId: string): string => `agent/${agentId}/variable`;
