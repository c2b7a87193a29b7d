// The function of `peers/go/function.go` with kpt's TypeScript SDK, which serializes everything again.
const { run } = require("kpt-functions");

run(async (configs) => {
  for (const item of configs.getAll()) {
    if (item.kind === "Deployment") {
      item.spec.replicas = 5;
      item.spec.template.spec.containers[0].image = "web:2.0";
    }
  }
});
