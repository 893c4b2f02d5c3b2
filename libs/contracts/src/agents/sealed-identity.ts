/** What the sealed identity (name, external ids, …) in the events of an agent is about, for `fromPersonal`. */
export const aboutIdentity = (agentId: string): string => `agent/${agentId}`;
