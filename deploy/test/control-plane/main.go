// Command control-plane runs etcd, kube-apiserver, kube-controller-manager or kube-scheduler, depending on its first argument. They
// share most of their imports, so building one program takes less time than building four.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "control-plane: name the program: etcd, kube-apiserver, kube-controller-manager or kube-scheduler")
		os.Exit(2)
	}
	os.Args = os.Args[1:]
	var command *cobra.Command
	switch os.Args[0] {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "kube-apiserver":
		command = apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		command = manager.NewControllerManagerCommand()
	case "kube-scheduler":
		command = scheduler.NewSchedulerCommand()
	default:
		fmt.Fprintf(os.Stderr, "control-plane: there is no program %q\n", os.Args[0])
		os.Exit(2)
	}
	os.Exit(cli.Run(command))
}
