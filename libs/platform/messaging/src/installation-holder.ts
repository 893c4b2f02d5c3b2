import { JetStreamApiCodes, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { isApiError } from './jetstream-errors.js';
import type { NatsLink } from './nats-link.js';
import type { WireNames } from './wire-names.js';

const API_TIMEOUT_MS = 4_000;

/** The installation that holds a name. */
export interface InstallationHolder {
  /** The identity of its event log, see `logIdentity`. */
  readonly logId: string;
  /** Sequence of its record in the presence stream. */
  readonly sequence: number;
}

/** The subject of the record that `InstallationClaim` writes. */
export const holderSubject = (names: WireNames): string => names.subject('presence.owner');

export const readHolder = async (
  manager: JetStreamManager,
  names: WireNames,
): Promise<InstallationHolder | null> => {
  const { NoMessageFound, StreamNotFound } = JetStreamApiCodes;
  try {
    const message = await manager.streams.getMessage(names.presenceStream, {
      last_by_subj: holderSubject(names),
    });
    return message === null ? null : { logId: message.string(), sequence: message.seq };
  } catch (error) {
    if (isApiError(error, NoMessageFound, StreamNotFound)) return null;
    throw error;
  }
};

/**
 * Returns the installation that holds the name of `link` on the broker; null when the name is free. For processes
 * without an event log, which do not claim the name. Throws when the broker does not respond within 4 s or refuses.
 */
export const installationHolder = async ({
  connection,
  names,
}: NatsLink): Promise<InstallationHolder | null> =>
  readHolder(await jetstreamManager(connection, { checkAPI: false, timeout: API_TIMEOUT_MS }), names);
