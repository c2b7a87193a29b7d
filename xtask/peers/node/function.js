// The function of gopeer's `function.go` on the TypeScript SDK of kpt, which prints everything anew.
const { run } = require("kpt-functions");

run(async (configs) => {
  for (const item of configs.getAll()) {
    if (item.kind === "Deployment") {
      item.spec.replicas = 5;
      item.spec.template.spec.containers[0].image = "web:2.0";
    }
  }
});
