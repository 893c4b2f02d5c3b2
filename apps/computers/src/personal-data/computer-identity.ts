import { aboutComputer } from '@berth/contracts/computers';
import { fromPersonal, toPersonal, type Personal, type PersonalKey } from '@berth/personal-data';
import type { ComputerIdentity } from '../computer/computer.js';

/** Seals the identity with `key`, the key of the computer's end user; null (no end user) leaves it in plaintext. */
export const toPersonalIdentity = (
  key: PersonalKey | null,
  computerId: string,
  identity: ComputerIdentity,
): Personal<ComputerIdentity> => toPersonal(key, aboutComputer(computerId), identity);

/** Returns null if the identity is sealed and there is no key. */
export const identityFrom = (
  key: PersonalKey | null | undefined,
  computerId: string,
  personal: Personal<ComputerIdentity>,
): ComputerIdentity | null => fromPersonal(key, aboutComputer(computerId), personal);
