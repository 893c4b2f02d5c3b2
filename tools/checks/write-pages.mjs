import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeBrokerAccess } from './broker-access.mjs';
import { writeClientTypes } from './client-types.mjs';
import { completeDeclarations } from './declarations.mjs';
import { ENVIRONMENT_PAGE, renderEnvironment } from './environment.mjs';
import { ERRORS_PAGE, renderErrors } from './errors.mjs';
import { METRICS_PAGE, renderMetrics } from './metrics.mjs';
import { OPERATOR_SCHEMA, renderOperatorSchema } from './operator-schema.mjs';
import { PYTHON_TYPES, renderPythonTypes } from './python-types.mjs';
import { writeShownFiles } from './shown-files.mjs';
import { renderSubjects, SUBJECTS_PAGE } from './subjects.mjs';
import { readWorkspace } from './workspace.mjs';

// Writes all generated files, as broker-access.mjs, client-types.mjs, environment.mjs, errors.mjs, metrics.mjs,
// operator-schema.mjs and subjects.mjs do with --write, the types of the Python client, and the files that pages show.
// Completes the declarations of imported packages.
const root = fileURLToPath(new URL('../..', import.meta.url));
await writeBrokerAccess(readWorkspace(root));
// Read again, because the composition imports the modules of all services.
const workspace = readWorkspace(root);
await completeDeclarations(workspace);
writeFileSync(join(root, ENVIRONMENT_PAGE), await renderEnvironment(workspace));
writeFileSync(join(root, ERRORS_PAGE), await renderErrors(workspace));
writeFileSync(join(root, METRICS_PAGE), await renderMetrics(workspace));
writeFileSync(join(root, OPERATOR_SCHEMA), await renderOperatorSchema(workspace));
writeFileSync(join(root, PYTHON_TYPES), await renderPythonTypes(workspace));
writeFileSync(join(root, SUBJECTS_PAGE), await renderSubjects(workspace));
await writeClientTypes(workspace);
writeShownFiles(workspace);
