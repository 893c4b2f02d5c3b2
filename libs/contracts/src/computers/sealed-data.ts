/** What the sealed data (name, external id of its end user) in the events of a computer are about, for `fromPersonal`. */
export const aboutComputer = (computerId: string): string => `computer/${computerId}`;
