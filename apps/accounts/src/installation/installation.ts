/**
 * The first start of an installation, once for the whole event log: which ids its first account and key have
 * is written down before either exists, so that a start that was cut off is finished and never begun twice.
 */
export interface InstallationBegun {
  readonly type: 'InstallationBegun';
  readonly accountId: string;
  readonly keyId: string;
  /** ISO 8601. */
  readonly begunAt: string;
}

/** Account and key are there; from here on the key file is the operator's. */
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
