/** Name of the Unix socket of `berth hosts add` in the data folder (`BERTH_DATA`) of a Berth with an embedded broker. */
export const HOST_ACCESS_SOCKET = 'hosts.sock';

/** `POST /hosts` on that socket. */
export interface AddHost {
  /** 1 to 64 letters, digits and `. _ -`. */
  readonly name: string;
}

export const HOST_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The data with which a host joins; shown once. */
export interface AddedHost {
  readonly id: string;
  readonly name: string;
  /** Contains the password of the host's own user on the broker. */
  readonly natsUrl: string;
  /**
   * For TLS on its data port, as PEM: its certificate with the private key, and the certificate of the authority.
   * Earlier versions issue none.
   */
  readonly data?: {
    readonly certificate: string;
    readonly key: string;
    readonly authority: string;
  };
}
