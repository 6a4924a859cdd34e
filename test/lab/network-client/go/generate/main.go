// Generates the Go package networkpb from a .proto file, with protoc-gen-go and protoc-gen-go-grpc: `generate PROTO-DIRECTORY PLUGIN-DIRECTORY
// OUT-DIRECTORY`. The compiler of the file is protocompile, so that no protoc need be installed.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const file = "network.proto"

func main() {
	if len(os.Args) != 4 {
		fail(fmt.Errorf("expected three directories"))
	}
	if err := generate(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func generate(protoDirectory, pluginDirectory, outDirectory string) error {
	resolver := &protocompile.SourceResolver{ImportPaths: []string{protoDirectory}}
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(resolver)}
	compiled, err := compiler.Compile(context.Background(), file)
	if err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{file},
		Parameter:      proto.String("paths=source_relative,M" + file + "=plexus.test/network-client/networkpb"),
		ProtoFile:      []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(compiled[0])},
	}
	input, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(outDirectory, 0o755); err != nil {
		return err
	}
	for _, plugin := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := run(filepath.Join(pluginDirectory, plugin), input, outDirectory); err != nil {
			return fmt.Errorf("%s: %w", plugin, err)
		}
	}
	return nil
}

func run(plugin string, input []byte, outDirectory string) error {
	command := exec.Command(plugin)
	command.Stdin = bytes.NewReader(input)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return fmt.Errorf("%s", response.GetError())
	}
	for _, generated := range response.File {
		path := filepath.Join(outDirectory, filepath.Base(generated.GetName()))
		if err := os.WriteFile(path, []byte(generated.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
