/**
 * The first start of an installation, which happens once per event log. The ids of its first account and key are recorded
 * before either exists, so that the next start completes an interrupted one with the same ids.
 */
export interface InstallationBegun {
  readonly type: 'InstallationBegun';
  readonly accountId: string;
  readonly keyId: string;
  /** ISO 8601. */
  readonly begunAt: string;
}

/** The account and the key exist. From now on the service does not touch the key file. */
export interface InstallationFinished {
  readonly type: 'InstallationFinished';
  readonly finishedAt: string;
}

export type InstallationEvent = InstallationBegun | InstallationFinished;

export type InstallationState =
  | { readonly kind: 'fresh' }
  | { readonly kind: 'begun'; readonly accountId: string; readonly keyId: string }
  | { readonly kind: 'finished'; readonly accountId: string; readonly keyId: string };

export const evolveInstallation = (state: InstallationState, event: InstallationEvent): InstallationState => {
  switch (event.type) {
    case 'InstallationBegun':
      return { kind: 'begun', accountId: event.accountId, keyId: event.keyId };
    case 'InstallationFinished':
      return state.kind === 'fresh' ? state : { ...state, kind: 'finished' };
  }
};
