import type { Scope } from '@berth/contracts/accounts';
import { Column, Entity, JoinColumn, OneToOne, PrimaryColumn } from 'typeorm';

/** The last use of a key; not derived from the log. */
@Entity({ name: 'key_usage', schema: 'accounts_vault' })
export class KeyUsageRow {
  @PrimaryColumn({ name: 'key_id', type: 'text' })
  keyId!: string;

  @Column({ name: 'last_used_at', type: 'timestamptz' })
  lastUsedAt!: Date;
}

/** A row of the view `key_list` over the projection's current table; read only. */
@Entity({ name: 'key_list' })
export class KeyRow {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ name: 'account_id', type: 'text' })
  accountId!: string;

  @Column({ type: 'text' })
  name!: string;

  @Column({ type: 'text', array: true })
  scopes!: Scope[];

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;

  @OneToOne(() => KeyUsageRow, { createForeignKeyConstraints: false })
  @JoinColumn({ name: 'id', referencedColumnName: 'keyId' })
  usage!: KeyUsageRow | null;
}
