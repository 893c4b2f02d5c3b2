/** Binds the sealed name and external user id of a computer to it, see `PersonalKey`. */
export const aboutComputer = (computerId: string): string => `computer/${computerId}`;
