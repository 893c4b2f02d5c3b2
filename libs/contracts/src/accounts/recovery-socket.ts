/** Name of the Unix socket of `berth keys recover` in the data folder (`BERTH_DATA`) of the accounts service. */
export const RECOVERY_SOCKET = 'accounts.sock';
