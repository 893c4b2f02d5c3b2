import type { EventCodec } from '@berth/event-store';
import type { InstallationBegun, InstallationEvent, InstallationFinished } from './installation.js';

type Stored<Event> = Omit<Event, 'type'>;

/** The events of the only installation stream, `installation-first`. */
export const installationCodec: EventCodec<InstallationEvent> = {
  category: 'installation',
  toStored: ({ type, ...data }) => ({ type, data }),
  fromStored: ({ type, data }) => {
    switch (type) {
      case 'InstallationBegun':
        return { type, ...(data as unknown as Stored<InstallationBegun>) };
      case 'InstallationFinished':
        return { type, ...(data as unknown as Stored<InstallationFinished>) };
      default:
        throw new Error(`The installation stream holds an event of unknown type ${type}.`);
    }
  },
};

/** The id of the only installation. */
export const INSTALLATION_ID = 'first';
