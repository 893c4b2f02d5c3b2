import type { Projection } from './projection.js';

/**
 * `dropTables` and `publish` of a projection with tables `<name>_<suffix>`, each behind a view `<name>` that shows all its
 * columns.
 */
export const tablesBehindViews = (
  ...names: readonly string[]
): Pick<Projection, 'dropTables' | 'publish'> => ({
  async dropTables(tx, suffix) {
    for (const name of names) await tx.query(`DROP TABLE IF EXISTS ${name}_${suffix} CASCADE`);
  },

  async publish(tx, suffix) {
    for (const name of names) {
      // Not OR REPLACE: a new version may remove or reorder columns.
      await tx.query(`DROP VIEW IF EXISTS ${name}`);
      await tx.query(`CREATE VIEW ${name} AS SELECT * FROM ${name}_${suffix}`);
    }
  },
});
